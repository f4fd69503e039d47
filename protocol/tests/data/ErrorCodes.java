import java.util.StringJoiner;
import org.apache.kafka.common.protocol.Errors;

/** Prints what Kafka's error codes are: code, name, the exception's class and its ancestors up to ApiException, message. */
class ErrorCodes {
    public static void main(String[] arguments) {
        for (Errors error : Errors.values()) {
            StringJoiner classes = new StringJoiner(" ");
            if (error.exception() != null) {
                for (Class<?> each = error.exception().getClass(); each.getName().startsWith("org.apache.kafka"); each = each.getSuperclass()) {
                    classes.add(each.getSimpleName());
                }
            }
            System.out.println(error.code() + "\t" + error.name() + "\t" + classes + "\t" + error.message());
        }
    }
}
