import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.MessageUtil;

/**
 * Reads lines of an API key, a version, `request` or `response`, a body in hex, and the same as JSON or nothing, with tabs
 * between. Writes for each the body as Kafka's class writes what it read, a tab, and the body that it writes of the JSON.
 */
class SecondOpinion {
    static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] parts = line.split("\t", -1);
            out.println(answer(parts).replace('\n', ' '));
        }
        out.flush();
    }

    static String answer(String[] parts) {
        short version = Short.parseShort(parts[1]);
        try {
            ApiMessage message = empty(Short.parseShort(parts[0]), parts[2]);
            ByteBuffer body = ByteBuffer.wrap(HexFormat.of().parseHex(parts[3]));
            message.read(new ByteBufferAccessor(body), version);
            if (body.hasRemaining()) {
                return body.remaining() + " bytes are left";
            }
            String again = parts[4].isEmpty() ? "" : written(fromJson(message.getClass(), parts[4], version), version);
            return written(message, version) + "\t" + again;
        } catch (Exception error) {
            return error + " " + error.getCause();
        }
    }

    static ApiMessage empty(short key, String direction) {
        ApiMessageType type = ApiMessageType.fromApiKey(key);
        return direction.equals("request") ? type.newRequest() : type.newResponse();
    }

    static ApiMessage fromJson(Class<?> message, String text, short version) throws Exception {
        Class<?> converter = Class.forName(message.getName() + "JsonConverter");
        return (ApiMessage) converter.getMethod("read", JsonNode.class, short.class).invoke(null, JSON.readTree(text), version);
    }

    static String written(ApiMessage message, short version) {
        ByteBuffer bytes = MessageUtil.toByteBufferAccessor(message, version).buffer();
        byte[] array = new byte[bytes.remaining()];
        bytes.get(array);
        return HexFormat.of().formatHex(array);
    }
}
