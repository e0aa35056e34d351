package org.brickprofiler.trace.read;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names an operation of a program that XLA compiled by its kernel and by its scope: the path of names that the program
 * gave to its parts, such as {@code jit(step)/layers_3/self_attn/q_proj/dot_general}. The name is {@code KERNEL @
 * PATH}, where the path lacks the program and the number of the layer, and the kernel its own number, so that equal
 * operations of all layers share a name. Without a path the name is that of the kernel. Stateless; any thread.
 */
final class XlaName {

    /** The category of an operation of a program that runs on the processor of the host. */
    static final String CATEGORY = "hlo_op";

    // The arguments of XLA's events.
    static final String OPERATION = "hlo_op";
    static final String SCOPE = "name";
    static final String FRAMEWORK_OPERATION = "tf_op";

    /** The number that work of a device shares with the call that launched it. */
    static final String CORRELATION = "correlation_id";

    /** The number of a step, which {@code jax.profiler.StepTraceAnnotation} writes. */
    static final String STEP = "step_num";

    /** The category of the annotation around a step, which does not count in a profile. */
    private static final String ANNOTATION = "user_annotation";

    /** Separates the kernel from the path; no compiler uses it in the name of a kernel. */
    static final String SEPARATOR = " @ ";

    /** The most slices in the JSON of XLA's profiler, which drops later ones; the XSpace beside the JSON has all. */
    static final long MOST_SLICES = 1_000_000;

    /** The layer of a scope that names none. */
    static final int NO_LAYER = -1;

    private static final int LONGEST_SCOPE = 4_000;
    private static final Pattern PROGRAM = Pattern.compile("^(jit|pjit|pmap|xmap)\\([^/]*\\)/(jit\\(main\\)/)?");
    private static final Pattern FUNCTION =
            Pattern.compile("\\b(?:p?jit|remat|checkpoint|custom_[a-z_]+)\\(([^()/]*)\\)");
    private static final Pattern LAYER = Pattern.compile(
            "(^|[/(])((?:[a-z]+_)?(?:layers?|blocks?|h))(?:[_.]|/)?(\\d{1,4})(?=$|[/)])", Pattern.CASE_INSENSITIVE);
    private static final Pattern NUMBER = Pattern.compile("(?:[._]\\d+)+$");

    private XlaName() {}

    /** A scope without its program and the number of its layer. Immutable. */
    record Scope(String path, int layer) {
        static final Scope NONE = new Scope("", NO_LAYER);

        /** Returns the scope that the arguments of an event have; {@link #NONE} if there is none. */
        static Scope of(Map<String, String> args) {
            // TensorFlow's own timelines use the first argument for another name.
            if (!args.containsKey(OPERATION) && !args.containsKey(FRAMEWORK_OPERATION)) {
                return NONE;
            }
            Scope named = scope(args.getOrDefault(SCOPE, ""));
            return named.path().isEmpty() ? scope(args.getOrDefault(FRAMEWORK_OPERATION, "")) : named;
        }

        /** Returns the scope of code that runs in two scopes: their path, with no layer if they have two. */
        Scope shared(Scope other) {
            if (equals(other)) {
                return this;
            }
            return path.equals(other.path) ? new Scope(path, NO_LAYER) : NONE;
        }
    }

    /**
     * Sets the name, the category and the layer of an event.
     *
     * @param event the event
     * @param name its name in the trace
     * @param operation the operation of a compiled program that it names; empty without one
     * @param scope the scope of the operation
     * @param isOnDevice whether its row is a device's
     * @param collector receives the layer
     */
    static void describe(
            TraceEvent event,
            String name,
            String operation,
            Scope scope,
            boolean isOnDevice,
            EventCollector collector) {
        // A launch on the host has the operation of its kernel, and a name of its own.
        boolean isOperation = isOnDevice || name.equals(operation);
        event.name = isOperation ? of(name, scope) : name;
        if (!operation.isEmpty() && !isOnDevice && event.category.isEmpty()) {
            event.category = CATEGORY;
        }
        if (isOperation && scope.layer() >= 0 && collector.wants(TraceEvent.LAYER)) {
            collector.keep(event, TraceEvent.LAYER, Integer.toString(scope.layer()), null);
        }
    }

    /**
     * Returns the scope in one of XLA's texts. The text is a path, or several paths of merged operations, of which the
     * first counts. It may also be the name of a parameter or a module, which is no path and gives no scope.
     */
    static Scope scope(String text) {
        int end = text.indexOf(';');
        String first = end < 0 ? text : text.substring(0, end);
        if (first.length() > LONGEST_SCOPE || first.indexOf('/') <= 0) {
            return Scope.NONE;
        }
        String path = first.endsWith(":") ? first.substring(0, first.length() - 1) : first;
        path = PROGRAM.matcher(path).replaceFirst("");
        path = FUNCTION.matcher(path).replaceAll("$1");
        Matcher layer = LAYER.matcher(path);
        if (!layer.find()) {
            return new Scope(path, NO_LAYER);
        }
        int number = Integer.parseInt(layer.group(3));
        return new Scope(layer.replaceAll("$1$2"), number);
    }

    /** Marks a slice of the host as the annotation of a step. */
    static void describeStep(TraceEvent event, String number) {
        event.step = TraceEvent.wholeNumberOf(number);
        if (event.step >= 0 && event.category.isEmpty()) {
            event.category = ANNOTATION;
        }
    }

    /** Returns the name of an operation in a scope. */
    static String of(String kernel, Scope scope) {
        if (scope.path().isEmpty()) {
            return kernel;
        }
        String code = kernel.endsWith(".kd") ? kernel.substring(0, kernel.length() - ".kd".length()) : kernel;
        String base = NUMBER.matcher(code).replaceFirst("");
        return TraceNames.bounded((base.isEmpty() ? code : base) + SEPARATOR + scope.path());
    }
}
