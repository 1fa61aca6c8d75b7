import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.AppInfoParser;
import org.json.JSONArray;
import org.json.JSONObject;

/** An adapter of Apache Kafka's own Java client: one producer and one consumer at most, each made when first needed. */
final class JavaAdapter implements AdapterLines.Adapter {

    private static final Set<String> CONSUMING = Set.of("subscribe", "poll");
    /** Calls inside the try block that the javadoc of KafkaProducer shows; see {@link SaidError}. */
    private static final Set<String> IN_TRANSACTION = Set.of("begin", "produce", "flush", "send_offsets", "commit");

    private final Queue<JSONObject> arrived = new ConcurrentLinkedQueue<>(); // filled by the producer's own thread
    private ClientSettings settings;
    private KafkaProducer<byte[], byte[]> producer;
    private KafkaConsumer<byte[], byte[]> consumer;
    private boolean joined;
    private volatile boolean closing;

    public static void main(String[] arguments) throws IOException {
        // slf4j-simple writes to standard error, and reads this when the first logger is made.
        System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "warn");
        AdapterLines.serve(new JavaAdapter());
    }

    @Override
    public JSONObject call(String name, JSONObject arguments) throws Exception {
        return switch (name) {
            case "open" -> open(arguments);
            case "init" -> done(producer()::initTransactions);
            case "begin" -> done(producer()::beginTransaction);
            case "produce" -> produce(arguments);
            case "flush" -> flush();
            case "send_offsets" -> done(() -> sendOffsets(arguments));
            case "commit" -> done(producer()::commitTransaction);
            case "abort" -> done(producer()::abortTransaction);
            case "subscribe" -> done(() -> subscribe(arguments));
            case "poll" -> poll(arguments.getLong("within_ms"));
            case "close" -> done(this::close);
            default -> null;
        };
    }

    @Override
    public JSONObject said(String call, Exception error) {
        boolean inTransaction = producer != null && settings.transactional() && IN_TRANSACTION.contains(call);
        Throwable own = error instanceof ExecutionException ? error.getCause() : error;
        return SaidError.fields(
                own,
                CONSUMING.contains(call)
                        ? SaidError.Source.CONSUMER
                        : inTransaction ? SaidError.Source.TRANSACTION : SaidError.Source.PRODUCER);
    }

    @Override
    public JSONArray deliveries() {
        JSONArray taken = new JSONArray();
        for (JSONObject each = arrived.poll(); each != null; each = arrived.poll()) {
            taken.put(each);
        }
        return taken;
    }

    private JSONObject open(JSONObject given) throws IOException {
        settings = new ClientSettings(given);
        return new JSONObject().put("library", "java").put("version", AppInfoParser.getVersion());
    }

    private JSONObject produce(JSONObject call) throws InterruptedException {
        List<Future<RecordMetadata>> taken = new ArrayList<>();
        JSONArray values = call.getJSONArray("values");
        long deadline = after(settings.milliseconds("block_ms"));
        // Each send may wait for metadata or memory until max.block.ms is over.
        while (taken.size() < values.length() && System.nanoTime() < deadline) {
            taken.add(send(call.getString("topic"), call.getInt("partition"), values.getString(taken.size())));
        }
        JSONObject failed = call.getBoolean("wait") ? firstFailure(taken) : null;
        int left = values.length() - taken.size();
        if (failed == null && left > 0) {
            return AdapterLines.refused("timeout", left + " values were not handed over: block_ms was over before");
        }
        return failed == null ? new JSONObject() : failed;
    }

    private Future<RecordMetadata> send(String topic, int partition, String value) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        return producer().send(new ProducerRecord<>(topic, partition, null, bytes), (metadata, error) -> {
            JSONObject delivery = error == null ? new JSONObject().put("outcome", "done") : said("produce", error);
            if (error == null && metadata.hasOffset()) {
                delivery.put("offset", metadata.offset());
            }
            if (error != null && closing) {
                delivery.put("outcome", "unsure"); // given up, whether it was on its way or not
            }
            arrived.add(delivery.put("topic", topic).put("partition", partition).put("value", value));
        });
    }

    /** Waits for all results; the fields of the first that is an error, null when all are done. */
    private JSONObject firstFailure(List<Future<RecordMetadata>> taken) throws InterruptedException {
        long deadline = after(resultsMs());
        JSONObject first = null;
        for (Future<RecordMetadata> each : taken) {
            try {
                each.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
            } catch (ExecutionException | java.util.concurrent.TimeoutException error) {
                first = first == null ? said("produce", error) : first;
            }
        }
        return first;
    }

    /** KafkaProducer.flush knows no timeout of its own, so another thread waits in it. */
    private JSONObject flush() throws Exception {
        CompletableFuture.runAsync(producer()::flush).get(resultsMs(), TimeUnit.MILLISECONDS);
        return new JSONObject();
    }

    /** By when the client has given up each record that it was given. */
    private long resultsMs() {
        return Math.max(settings.milliseconds("delivery_timeout_ms"), settings.milliseconds("block_ms")) + 1_000;
    }

    @SuppressWarnings("removal") // since 4.2; nothing else takes the name of a group alone
    private void sendOffsets(JSONObject call) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        for (Object each : call.getJSONArray("offsets")) {
            offsets.put(partition((JSONObject) each), new OffsetAndMetadata(((JSONObject) each).getLong("offset")));
        }
        producer().sendOffsetsToTransaction(
                offsets, joined ? consumer.groupMetadata() : new ConsumerGroupMetadata(call.getString("group")));
    }

    private void subscribe(JSONObject call) {
        if (consumer != null) {
            consumer.close(Duration.ZERO);
        }
        joined = call.has("topics");
        consumer = new KafkaConsumer<>(
                settings.consumer(joined), new ByteArrayDeserializer(), new ByteArrayDeserializer());
        if (joined) {
            List<String> topics = new ArrayList<>();
            call.getJSONArray("topics").forEach(each -> topics.add((String) each));
            consumer.subscribe(topics);
        } else {
            List<TopicPartition> partitions = new ArrayList<>();
            call.getJSONArray("partitions").forEach(each -> partitions.add(partition((JSONObject) each)));
            consumer.assign(partitions);
        }
    }

    /** The client's poll comes back sooner without records when it has passed over aborted ones or markers. */
    private JSONObject poll(long withinMs) {
        if (consumer == null) {
            return AdapterLines.unsupported("subscribe comes first");
        }
        long deadline = after(withinMs);
        ConsumerRecords<byte[], byte[]> polled;
        do {
            polled = consumer.poll(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
        } while (polled.isEmpty() && System.nanoTime() < deadline);
        JSONArray records = new JSONArray();
        for (ConsumerRecord<byte[], byte[]> each : polled) {
            String value = each.value() == null ? "" : new String(each.value(), StandardCharsets.UTF_8);
            records.put(place(each.topic(), each.partition(), each.offset()).put("value", value));
        }
        return new JSONObject().put("records", records).put("positions", positions());
    }

    private JSONArray positions() {
        JSONArray known = new JSONArray();
        for (TopicPartition each : consumer.assignment()) {
            try {
                known.put(place(each.topic(), each.partition(), consumer.position(each, Duration.ZERO)));
            } catch (TimeoutException error) {
                continue; // not known yet
            }
        }
        return known;
    }

    private void close() {
        closing = true;
        if (consumer != null) {
            consumer.close(Duration.ZERO);
        }
        if (producer != null) {
            producer.close(Duration.ZERO);
        }
    }

    private KafkaProducer<byte[], byte[]> producer() {
        if (producer == null) {
            producer = new KafkaProducer<>(settings.producer(), new ByteArraySerializer(), new ByteArraySerializer());
        }
        return producer;
    }

    private static JSONObject done(Runnable call) {
        call.run();
        return new JSONObject();
    }

    private static TopicPartition partition(JSONObject place) {
        return new TopicPartition(place.getString("topic"), place.getInt("partition"));
    }

    private static JSONObject place(String topic, int partition, long offset) {
        return new JSONObject().put("topic", topic).put("partition", partition).put("offset", offset);
    }

    private static long after(long milliseconds) {
        return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(milliseconds);
    }
}
