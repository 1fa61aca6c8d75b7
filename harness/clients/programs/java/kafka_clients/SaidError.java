import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.UnknownServerException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.apache.kafka.common.protocol.Errors;
import org.json.JSONArray;
import org.json.JSONObject;

/** An error in the client's own words, and how the client classifies it. */
final class SaidError {

    /** What an error came from, and so which documentation classifies it. */
    enum Source {
        /** A call between {@code initTransactions} and the end of a transaction, or a record of it. */
        TRANSACTION,
        /** Another call of the producer, or a record outside of transactions. */
        PRODUCER,
        CONSUMER
    }

    private SaidError() {}

    /** The fields {@code outcome} and {@code error}. */
    static JSONObject fields(Throwable error, Source source) {
        JSONArray causes = new JSONArray();
        causes(error).forEach(cause -> causes.put(told(cause)));
        JSONObject said = told(error).put("class", orNull(classOf(error, source))).put("causes", causes);
        return new JSONObject().put("outcome", unsure(error) ? "unsure" : "refused").put("error", said);
    }

    /**
     * Whether the client does not know what came of it: its time was up, for it retries by itself until then. The error of
     * a record is that of its last try; an earlier one, whose answer was lost, may have written it.
     */
    private static boolean unsure(Throwable error) {
        return error instanceof RetriableException || error instanceof java.util.concurrent.TimeoutException;
    }

    private static JSONObject told(Throwable error) {
        String message = error.getMessage() == null ? "" : error.getMessage();
        return new JSONObject()
                .put("type", error.getClass().getSimpleName())
                .put("bases", bases(error.getClass()))
                .put("message", message)
                .put("code", orNull(code(error)));
    }

    /** The client's own types that the error's extends, nearest first. */
    private static JSONArray bases(Class<?> type) {
        JSONArray bases = new JSONArray();
        for (Class<?> each = type.getSuperclass(); each != RuntimeException.class && each != null; each = each.getSuperclass()) {
            bases.put(each.getSimpleName());
        }
        return bases;
    }

    /** Kafka's code of the error; the client's own function has UNKNOWN_SERVER_ERROR for exceptions that have none. */
    private static Integer code(Throwable error) {
        Errors known = Errors.forException(error);
        boolean none = known == Errors.UNKNOWN_SERVER_ERROR && !(error instanceof UnknownServerException);
        return none ? null : Integer.valueOf(known.code());
    }

    /**
     * How the client classifies an error: by its base types, by the javadoc of the exceptions, and by the usage that the
     * javadoc of {@code KafkaProducer} shows:
     *
     * <pre>
     * } catch (ProducerFencedException | OutOfOrderSequenceException | AuthorizationException e) {
     *     // We can't recover from these exceptions, so our only option is to close the producer and exit.
     * } catch (KafkaException e) {
     *     // For all other exceptions, just abort the transaction and try again.
     * }
     * </pre>
     */
    private static String classOf(Throwable error, Source source) {
        if (error instanceof RetriableException) {
            return "retriable";
        }
        if (source == Source.CONSUMER) {
            return null;
        }
        String documented = documented(error, source);
        if (documented == null && error.getClass() == KafkaException.class) {
            // KafkaProducer.send: after a fatal error calls "raise the same underlying error wrapped in a new KafkaException".
            documented = causes(error).stream()
                    .map(cause -> documented(cause, source))
                    .filter(each -> each != null)
                    .findFirst()
                    .orElse(null);
        }
        boolean abortable = source == Source.TRANSACTION && error instanceof KafkaException;
        return documented != null ? documented : abortable ? "abortable" : null;
    }

    /** What the javadoc says of this exception by name, or of a base type of it. */
    private static String documented(Throwable error, Source source) {
        // KafkaProducer.sendOffsetsToTransaction: a FencedInstanceIdException says that the "producer instance gets fenced".
        if (error instanceof ProducerFencedException || error instanceof FencedInstanceIdException) {
            return "fenced";
        }
        // InvalidProducerEpochException: "user should abort the ongoing transaction". That stands above its base type.
        if (error instanceof InvalidProducerEpochException || is(error, "TransactionAbortableException")) {
            return "abortable";
        }
        // KafkaProducer.send: "the only option left is to call close()"; ApplicationRecoverableException: "the error is
        // fatal to the producer, and the application needs to restart the producer".
        boolean fatal = error instanceof AuthorizationException
                || error instanceof UnsupportedVersionException
                || is(error, "ApplicationRecoverableException");
        // OutOfOrderSequenceException: "For transactional producers, this is a fatal error"; others may continue.
        boolean lost = source == Source.TRANSACTION && error instanceof OutOfOrderSequenceException;
        return fatal || lost ? "fatal" : null;
    }

    /** Whether an error is of this type, which older versions of the client do not have. */
    private static boolean is(Throwable error, String type) {
        String name = KafkaException.class.getPackageName() + ".errors." + type;
        for (Class<?> each = error.getClass(); each != null; each = each.getSuperclass()) {
            if (each.getName().equals(name)) {
                return true;
            }
        }
        return false;
    }

    private static List<Throwable> causes(Throwable error) {
        List<Throwable> causes = new ArrayList<>();
        for (Throwable each = error.getCause(); each != null && !causes.contains(each); each = each.getCause()) {
            causes.add(each);
        }
        return causes;
    }

    private static Object orNull(Object value) {
        return value == null ? JSONObject.NULL : value;
    }
}
