// KafkaJS against a secured cluster. Usage: secured_kafkajs.cjs JSON, with the listeners' addresses and the PEM files.

const assert = require('node:assert')
const { readFileSync } = require('node:fs')
const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, Kafka, logLevel, Partitioners, ResourcePatternTypes } = require('kafkajs')

const cluster = JSON.parse(process.argv[2])
const pem = name => readFileSync(cluster[name])

const client = (protocol, sasl, certificate = false) => new Kafka({
  clientId: 'kafkajs', brokers: cluster[protocol].split(','), logLevel: logLevel.NOTHING, retry: { retries: 2 }, sasl,
  ssl: protocol.endsWith('SSL') && { ca: [pem('ca')], ...(certificate && { cert: pem('certificate'), key: pem('key') }) }
})
const by = (mechanism, username = 'alice', password = 'alice-secret') => ({ mechanism, username, password })

// A token without a signature, as Kafka's own login makes it.
const part = fields => Buffer.from(JSON.stringify(fields)).toString('base64url')
const now = Math.floor(Date.now() / 1000)
const token = `${part({ alg: 'none' })}.${part({ sub: 'alice', iat: now, exp: now + 3600 })}.`
const bearer = { mechanism: 'oauthbearer', oauthBearerProvider: async () => ({ value: token }) }

const send = async (kafka, topic, values) => {
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  try {
    await producer.send({ topic, messages: values.map(value => ({ value })) })
  } finally {
    await producer.disconnect()
  }
}
const roundTrip = async (kafka, topic) => {
  const sent = ['0', '1', '2', '3', '4']
  await send(kafka, topic, sent)
  const consumer = kafka.consumer({ groupId: `${topic}-group` })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  const got = []
  await new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error(`only ${got} in time`)), 180000).unref()
    consumer.run({ eachMessage: async ({ message }) => { if (got.push(`${message.value}`) === sent.length) resolve() } }).catch(reject)
  })
  await consumer.disconnect()
  assert.deepStrictEqual(got, sent)
}

const main = async () => {
  const admin = client('SASL_SSL', by('scram-sha-512', 'admin', 'admin-secret')).admin()
  await admin.connect()
  const ways = {
    'js-plain': client('SASL_PLAINTEXT', by('plain')),
    'js-scram-256': client('SASL_SSL', by('scram-sha-256')),
    'js-scram-512': client('SASL_SSL', by('scram-sha-512')),
    'js-token': client('SASL_SSL', bearer),
    'js-certificate': client('SSL', undefined, true)
  }
  await admin.createTopics({ topics: Object.keys(ways).map(topic => ({ topic })) })
  for (const [topic, kafka] of Object.entries(ways)) await roundTrip(kafka, topic)
  for (const mechanism of ['plain', 'scram-sha-256']) {
    const refused = client('SASL_PLAINTEXT', by(mechanism, 'alice', 'wrong')).admin()
    await assert.rejects(refused.connect(), { name: 'KafkaJSSASLAuthenticationError' })
    await refused.disconnect()
  }
  const rule = {
    resourceType: AclResourceTypes.TOPIC, resourceName: 'js-plain', resourcePatternType: ResourcePatternTypes.LITERAL,
    principal: 'User:alice', host: '*', operation: AclOperationTypes.WRITE, permissionType: AclPermissionTypes.DENY
  }
  await admin.createAcls({ acl: [rule] })
  await assert.rejects(send(ways['js-plain'], 'js-plain', ['x']), /Not authorized to access topics/)
  const { resources } = await admin.describeAcls(rule)
  assert.deepStrictEqual(resources.map(({ acls }) => acls.map(({ principal }) => principal)), [['User:alice']])
  const { filterResponses: [{ matchingAcls }] } = await admin.deleteAcls({ filters: [rule] })
  assert.strictEqual(matchingAcls.length, 1)
  await send(ways['js-plain'], 'js-plain', ['y'])
  await admin.disconnect()
  console.log('ok')
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
