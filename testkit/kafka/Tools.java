import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.common.utils.internals.Exit;

/**
 * Kafka's tools one after the other in one JVM, since starting one takes longer than what most tools do. Each line of standard input is a tool's
 * name and its arguments; after a line `input TEXT` the next tool reads TEXT, in which \n ends a line. The first argument is where the cluster
 * is; the property `tools` has names and classes, a line each. All that they print goes to standard output, each tool's after a line `--- NAME …`
 * and before its exit code, if that is not 0.
 */
public class Tools {
    /** A tool's wish to end the process. */
    private static final class Ended extends Error {
        Ended() {
            super("a tool has ended", null, false, false);
        }
    }

    private final Map<String, String> classes = new HashMap<>();
    private final List<Runnable> hooks = new ArrayList<>();
    private final PrintStream all = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    private final String address;

    private Tools(String names, String address) {
        this.address = address;
        names.lines().map(line -> line.split(" +")).filter(row -> row.length > 1).forEach(row -> classes.put(row[0], row[1]));
        Exit.setExitProcedure((status, message) -> end(status));
        Exit.setHaltProcedure((status, message) -> end(status));
        Exit.setShutdownHookAdder((name, hook) -> hooks.add(hook));
    }

    public static void main(String[] arguments) throws Exception {
        Tools tools = new Tools(System.getProperty("tools"), arguments[0]);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String input = "";
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith("input ")) {
                input = line.substring("input ".length()).replace("\\n", "\n");
            } else if (!line.isBlank()) {
                tools.run(line, input);
                input = "";
            }
        }
        // Threads that a tool has left do not hold it up.
        Runtime.getRuntime().halt(0);
    }

    /** What a tool would print after its end, as when it catches this, it would not. */
    private static void end(int status) {
        if (status != 0) System.out.println("ended with " + status);
        printTo(new PrintStream(OutputStream.nullOutputStream()));
        throw new Ended();
    }

    private static void printTo(PrintStream stream) {
        System.setOut(stream);
        System.setErr(stream);
    }

    private void run(String line, String input) throws Exception {
        printTo(all);
        all.println("--- " + line);
        String[] words = line.split(" +");
        String named = classes.get(words[0]);
        if (named == null) throw new IllegalArgumentException("there is no tool " + words[0]);
        String[] arguments = Stream.concat(Stream.of("--bootstrap-server", address), Arrays.stream(words).skip(1)).toArray(String[]::new);
        System.setIn(new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)));
        try {
            Class.forName(named).getMethod("main", String[].class).invoke(null, (Object) arguments);
        } catch (InvocationTargetException failed) {
            if (!(failed.getCause() instanceof Ended)) failed.getCause().printStackTrace();
        }
        printTo(all);
        hooks.forEach(Runnable::run);
        hooks.clear();
    }
}
