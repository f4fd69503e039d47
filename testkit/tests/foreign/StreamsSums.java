import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Produced;

/**
 * A Kafka Streams application on a cluster, by the classic protocol and under both guarantees: words are counted over a
 * repartition topic, by two instances of which one leaves half-way. Usage: StreamsSums.java BOOTSTRAP
 */
class StreamsSums {
    static String bootstrap;

    public static void main(String[] arguments) throws Exception {
        bootstrap = arguments[0];
        // Side by side, since both wait most of the time.
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Future<Void>> runs = new ArrayList<>();
        for (String guarantee : List.of("at_least_once", "exactly_once_v2")) {
            runs.add(pool.submit(() -> run(guarantee)));
        }
        for (Future<Void> run : runs) {
            run.get();
        }
        System.out.println("ok");
        System.exit(0);
    }

    static Void run(String guarantee) throws Exception {
        String application = "sums-" + guarantee, words = application + "-words", counts = application + "-counts";
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
            admin.createTopics(List.of(new NewTopic(words, 3, (short) 1), new NewTopic(counts, 2, (short) 1))).all().get(180, TimeUnit.SECONDS);
            KafkaStreams first = start(application, guarantee, words, counts);
            KafkaStreams second = start(application, guarantee, words, counts);
            produce(words, 0, 300);
            expect(counts, guarantee, 30);
            second.close(Duration.ofSeconds(180));
            produce(words, 300, 600);
            expect(counts, guarantee, 60);
            List<String> internal = admin.listTopics().names().get(180, TimeUnit.SECONDS).stream().filter(name -> name.startsWith(application + "-")).toList();
            check(internal.stream().anyMatch(name -> name.endsWith("-changelog")) && internal.stream().anyMatch(name -> name.endsWith("-repartition")), "internal topics are there: " + internal);
            first.close(Duration.ofSeconds(180));
            long committed = admin.listConsumerGroupOffsets(application).partitionsToOffsetAndMetadata().get(180, TimeUnit.SECONDS).entrySet().stream()
                .filter(entry -> entry.getKey().topic().equals(words)).mapToLong(entry -> entry.getValue().offset()).sum();
            // A transaction's marker takes an offset, but nobody writes to the input by transactions.
            check(committed == 600, "all of the input is committed, not " + committed);
        }
        return null;
    }

    static KafkaStreams start(String application, String guarantee, String words, String counts) throws Exception {
        Properties options = new Properties();
        options.put("application.id", application);
        options.put("bootstrap.servers", bootstrap);
        options.put("processing.guarantee", guarantee);
        options.put("group.protocol", "classic");
        options.put("state.dir", Files.createTempDirectory("streams").toString());
        options.put("commit.interval.ms", "200");
        // Who closes does not leave its group, and is missed after a session.
        options.put("session.timeout.ms", "3000");
        options.put("heartbeat.interval.ms", "300");
        options.put("num.stream.threads", "2");
        options.put("default.key.serde", Serdes.StringSerde.class);
        options.put("default.value.serde", Serdes.StringSerde.class);
        options.put("default.dsl.store", "in_memory");
        StreamsBuilder builder = new StreamsBuilder();
        KStream<String, String> input = builder.stream(words);
        input.groupBy((key, word) -> word, Grouped.as("by-word")).count().toStream().to(counts, Produced.with(Serdes.String(), Serdes.Long()));
        KafkaStreams streams = new KafkaStreams(builder.build(), options);
        streams.start();
        return streams;
    }

    static void produce(String topic, int from, int to) throws Exception {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(Map.of("bootstrap.servers", bootstrap), new StringSerializer(), new StringSerializer())) {
            for (int number = from; number < to; number++) {
                producer.send(new ProducerRecord<>(topic, number % 3, "" + number, "word-" + number % 10));
            }
            producer.flush();
        }
    }

    /** Until each of the ten words has this count, as who reads only what is committed sees it. */
    static void expect(String topic, String guarantee, long count) {
        Map<String, Object> options = new HashMap<>(Map.of("bootstrap.servers", bootstrap, "auto.offset.reset", "earliest", "isolation.level", "read_committed"));
        options.put("group.id", UUID.randomUUID().toString());
        Map<String, Long> latest = new TreeMap<>();
        try (KafkaConsumer<String, Long> consumer = new KafkaConsumer<>(options, new StringDeserializer(), new LongDeserializer())) {
            consumer.subscribe(List.of(topic));
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(300);
            while (!(latest.size() == 10 && latest.values().stream().allMatch(each -> each == count))) {
                check(System.nanoTime() < end, guarantee + ": not in time: " + latest);
                for (ConsumerRecord<String, Long> record : consumer.poll(Duration.ofMillis(200))) {
                    latest.put(record.key(), record.value());
                    check(record.value() <= count || guarantee.equals("at_least_once"), "counted twice: " + record.key() + " = " + record.value());
                }
            }
        }
    }

    static void check(boolean holds, String what) {
        if (!holds) {
            System.err.println("not so: " + what);
            System.exit(1);
        }
    }
}
