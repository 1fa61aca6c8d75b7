import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import org.json.JSONArray;
import org.json.JSONObject;

/** Reads calls from standard input and answers them, for adapters in Java; see PROTOCOL.md. */
final class AdapterLines {

    /** What answers the calls. */
    interface Adapter {

        /**
         * Does a call.
         *
         * @return the fields of its answer, with {@code outcome} where it is not done; null for a call that it does not know
         * @throws Exception the library's error, for {@link #said}
         */
        JSONObject call(String name, JSONObject arguments) throws Exception;

        /** The fields {@code outcome} and {@code error} for what a call has thrown. */
        JSONObject said(String call, Exception error);

        /** Results of records that came since they were last asked for. */
        JSONArray deliveries();
    }

    private AdapterLines() {}

    /** Answers calls until {@code close} or the end of the input. */
    static void serve(Adapter adapter) throws IOException {
        Writer answers = new BufferedWriter(
                new OutputStreamWriter(new FileOutputStream(FileDescriptor.out), StandardCharsets.UTF_8));
        System.setOut(System.err); // what a library prints is no answer
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JSONObject call = new JSONObject(line);
            answers.write(answer(adapter, call) + "\n");
            answers.flush();
            if (call.getString("call").equals("close")) {
                return;
            }
        }
    }

    /** The error of a call that the adapter does not know, or that the library has nothing for. */
    static JSONObject unsupported(String message) {
        return refused("unsupported", message);
    }

    /** An error of the adapter itself, which the library has no part in. */
    static JSONObject refused(String type, String message) {
        return new JSONObject()
                .put("outcome", "refused")
                .put("error", new JSONObject().put("type", type).put("message", message));
    }

    private static JSONObject answer(Adapter adapter, JSONObject call) {
        JSONObject answer = fields(adapter, call).put("id", call.get("id"));
        JSONArray deliveries = adapter.deliveries();
        if (!deliveries.isEmpty()) {
            answer.put("deliveries", deliveries);
        }
        return answer.has("outcome") ? answer : answer.put("outcome", "done");
    }

    private static JSONObject fields(Adapter adapter, JSONObject call) {
        String name = call.getString("call");
        try {
            JSONObject fields = adapter.call(name, call);
            return fields != null ? fields : unsupported("this adapter does not know the call '" + name + "'");
        } catch (Exception error) { // whatever a library throws is what Fencepost asks for
            return adapter.said(name, error);
        }
    }
}
