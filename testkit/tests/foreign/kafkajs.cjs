// KafkaJS against a cluster: topics, records, groups, transactions, offsets. Usage: kafkajs.cjs BOOTSTRAP

const assert = require('node:assert')
const { Kafka, logLevel, CompressionTypes, Partitioners } = require('kafkajs')

const kafka = new Kafka({ clientId: 'kafkajs', brokers: process.argv[2].split(','), logLevel: logLevel.NOTHING })

// A consumer hears of a rebalance by its next heartbeat, and ends after its last fetch.
const quick = { sessionTimeout: 45000, heartbeatInterval: 300, maxWaitTimeInMs: 300 }

const until = async (what, holds) => {
  for (const end = Date.now() + 180000; Date.now() < end; await new Promise(resolve => setTimeout(resolve, 50))) {
    const found = await holds()
    if (found) return found
  }
  throw new Error(`not in time: ${what}`)
}

// Every record has an offset of its own, by partition.
const produce = async () => {
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner, idempotent: true, maxInFlightRequests: 1 })
  await producer.connect()
  const messages = [...Array(60).keys()].map(n => ({ key: `${n}`, value: `value ${n}`, partition: n % 2, headers: { n: `${n}` } }))
  const sent = await producer.send({ topic: 'js', compression: CompressionTypes.GZIP, acks: -1, messages })
  assert.deepStrictEqual(sent.map(each => [each.partition, each.errorCode, each.baseOffset]).sort(), [[0, 0, '0'], [1, 0, '0']])
  await producer.disconnect()
}

const read = async (topic, groupId, count, options = {}) => {
  const consumer = kafka.consumer({ groupId, ...quick, ...options })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  const got = []
  await consumer.run({ autoCommit: false, eachMessage: async ({ partition, message }) => { got.push({ partition, message }) } })
  await until(`${count} records of ${topic}`, () => got.length >= count)
  assert.strictEqual(got.length, count)
  return { consumer, got }
}

const groups = async admin => {
  const { consumer, got } = await read('js', 'js-group', 60)
  const keys = got.map(({ message }) => Number(message.key)).sort((one, other) => one - other)
  assert.deepStrictEqual(keys, [...Array(60).keys()])
  assert(got.every(({ message }) => `value ${message.key}` === `${message.value}` && `${message.headers.n}` === `${message.key}`))
  await consumer.commitOffsets([{ topic: 'js', partition: 0, offset: '30' }, { topic: 'js', partition: 1, offset: '30' }])
  const { groups: [described] } = await admin.describeGroups(['js-group'])
  assert.deepStrictEqual([described.state, described.members.length, described.protocolType], ['Stable', 1, 'consumer'])
  const second = kafka.consumer({ groupId: 'js-group', ...quick })
  await second.connect()
  await second.subscribe({ topic: 'js' })
  const joined = []
  second.on(second.events.GROUP_JOIN, event => joined.push(event.payload.memberAssignment))
  await second.run({ autoCommit: false, eachMessage: async () => {} })
  await until('the second member has its part', () => joined.some(assignment => assignment.js?.length === 1))
  await second.disconnect()
  await consumer.disconnect()
  await until('the group is empty', async () => (await admin.describeGroups(['js-group'])).groups[0].state === 'Empty')
  const [offsets] = await admin.fetchOffsets({ groupId: 'js-group', topics: ['js'] })
  assert.deepStrictEqual(offsets.partitions.map(({ offset }) => offset), ['30', '30'])
  await admin.deleteGroups(['js-group'])
  assert(!(await admin.listGroups()).groups.some(({ groupId }) => groupId === 'js-group'))
}

// One is committed and one aborted: who reads only what is committed sees the first, KafkaJS's default.
const transactions = async () => {
  const producer = kafka.producer({
    createPartitioner: Partitioners.DefaultPartitioner, transactionalId: 'js-transactions', idempotent: true, maxInFlightRequests: 1
  })
  await producer.connect()
  for (const [value, end] of [['kept', 'commit'], ['dropped', 'abort'], ['kept too', 'commit']]) {
    const transaction = await producer.transaction()
    await transaction.send({ topic: 'js-committed', messages: [{ value }] })
    await transaction[end]()
  }
  await producer.disconnect()
  const committed = await read('js-committed', 'js-committed-group', 2)
  await committed.consumer.disconnect()
  assert.deepStrictEqual(committed.got.map(({ message }) => `${message.value}`), ['kept', 'kept too'])
  const all = await read('js-committed', 'js-all-group', 3, { readUncommitted: true })
  await all.consumer.disconnect()
  assert.deepStrictEqual(all.got.map(({ message }) => `${message.value}`), ['kept', 'dropped', 'kept too'])
}

const main = async () => {
  const admin = kafka.admin()
  await admin.connect()
  assert(await admin.createTopics({ topics: [{ topic: 'js', numPartitions: 2 }, { topic: 'js-committed', numPartitions: 1 }] }))
  assert(!(await admin.createTopics({ topics: [{ topic: 'js' }] })), 'it is there already')
  const { topics: [{ partitions }] } = await admin.fetchTopicMetadata({ topics: ['js'] })
  assert.strictEqual(partitions.length, 2)
  await produce()
  const ends = await admin.fetchTopicOffsets('js')
  assert.deepStrictEqual(ends.map(({ low, high }) => [low, high]), [['0', '30'], ['0', '30']])
  const byTime = await admin.fetchTopicOffsetsByTimestamp('js', 0)
  assert.deepStrictEqual(byTime.map(({ offset }) => offset), ['0', '0'])
  await groups(admin)
  await transactions()
  await admin.createPartitions({ topicPartitions: [{ topic: 'js', count: 3 }] })
  await until('the third partition has a leader', async () => {
    const { topics: [{ partitions }] } = await admin.fetchTopicMetadata({ topics: ['js'] })
    const ids = partitions.filter(({ partitionErrorCode, leader }) => partitionErrorCode === 0 && leader >= 0).map(({ partitionId }) => partitionId)
    return `${ids.sort()}` === '0,1,2'
  })
  assert.deepStrictEqual((await admin.fetchTopicOffsets('js')).map(({ partition, high }) => [partition, high]).sort(), [[0, '30'], [1, '30'], [2, '0']])
  await assert.rejects(admin.createPartitions({ topicPartitions: [{ topic: 'js', count: 2 }] }), 'there are three already')
  await admin.deleteTopics({ topics: ['js', 'js-committed'] })
  await until('the topics are gone', async () => !(await admin.listTopics()).some(topic => topic.startsWith('js')))
  await admin.disconnect()
  console.log('ok')
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
