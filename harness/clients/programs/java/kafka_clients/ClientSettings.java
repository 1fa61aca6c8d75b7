import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.json.JSONObject;

/** The clients' settings, of what {@code open} is given (PROTOCOL.md, "Calls"). */
final class ClientSettings {

    private static final List<String> SECURITY = List.of("security.", "sasl.", "ssl.");
    private static final List<String> STORES = List.of("ssl.truststore", "ssl.keystore");
    private static final int HEARTBEAT_MS = 3_000; // the client's default

    private final JSONObject given;
    private final Map<String, Object> security;

    ClientSettings(JSONObject given) throws IOException {
        this.given = given;
        this.security = given.isNull("properties_file") ? Map.of() : security(Path.of(given.getString("properties_file")));
    }

    boolean transactional() {
        return !given.isNull("transactional_id");
    }

    long milliseconds(String name) {
        return given.getLong(name);
    }

    Map<String, Object> producer() {
        Map<String, Object> settings = common();
        settings.put("acks", "all"); // 2.8 has another default
        settings.put("enable.idempotence", transactional() || given.getBoolean("idempotent"));
        if (transactional()) {
            settings.put("transactional.id", given.getString("transactional_id"));
            settings.put("transaction.timeout.ms", given.get("transaction_timeout_ms"));
        }
        settings.put("delivery.timeout.ms", given.get("delivery_timeout_ms"));
        settings.put("max.block.ms", given.get("block_ms"));
        settings.put("linger.ms", given.get("linger_ms"));
        settings.put("batch.size", given.get("batch_bytes"));
        settings.put("max.in.flight.requests.per.connection", given.get("in_flight"));
        settings.put("compression.type", given.getString("compression"));
        return settings;
    }

    /**
     * Those of a consumer.
     *
     * @param joins whether it joins its group; without one it finds no committed offsets
     */
    Map<String, Object> consumer(boolean joins) {
        Map<String, Object> settings = common();
        int session = given.getInt("session_timeout_ms");
        if (joins && !given.isNull("group")) {
            settings.put("group.id", given.getString("group"));
        }
        settings.put("isolation.level", given.getString("isolation"));
        settings.put("session.timeout.ms", session);
        settings.put("heartbeat.interval.ms", Math.min(HEARTBEAT_MS, session / 3));
        settings.put("default.api.timeout.ms", given.get("block_ms"));
        settings.put("max.partition.fetch.bytes", given.get("fetch_bytes"));
        settings.put("auto.offset.reset", "earliest");
        settings.put("enable.auto.commit", false);
        return settings;
    }

    private Map<String, Object> common() {
        Map<String, Object> settings = new HashMap<>(security);
        settings.put("bootstrap.servers", given.getString("bootstrap"));
        settings.put("client.id", given.getString("client_id"));
        settings.put("request.timeout.ms", given.get("request_timeout_ms"));
        return settings;
    }

    /** What a file in Kafka's own format says about security; its paths are relative to it. */
    private static Map<String, Object> security(Path file) throws IOException {
        Properties all = new Properties();
        try (Reader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
            all.load(reader);
        }
        Map<String, Object> kept = new HashMap<>();
        for (String name : all.stringPropertyNames()) {
            if (SECURITY.stream().anyMatch(name::startsWith)) {
                kept.put(name, all.getProperty(name));
            }
        }
        for (String store : STORES) {
            locate(store, file, kept);
        }
        return kept;
    }

    private static void locate(String store, Path file, Map<String, Object> settings) throws IOException {
        if (settings.containsKey(store + ".location")) {
            Path location = file.toAbsolutePath().resolveSibling(settings.get(store + ".location").toString());
            settings.put(store + ".location", location.toString());
            if (Files.readString(location, StandardCharsets.ISO_8859_1).contains("-----BEGIN ")) {
                settings.putIfAbsent(store + ".type", "PEM"); // the client takes it for JKS otherwise
            }
        }
    }
}
