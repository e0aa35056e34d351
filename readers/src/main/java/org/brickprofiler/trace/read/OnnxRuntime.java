package org.brickprofiler.trace.read;

import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.trace.read.TraceEvent.Kind;

/**
 * Gives the events of a profile of ONNX Runtime the form that rules, sums and timelines expect. One object for each
 * reading; one thread.
 *
 * <p><b>The profile.</b> An event of category {@code Node} is the execution of a node of the model's graph: its name is
 * the path of the node and {@code _kernel_time}, its argument {@code op_name} is the operator, and {@code provider} is
 * the execution provider. Events of category {@code Session} are the loading of the model, the runs, and the executor
 * inside each run. An {@code If}, a {@code Loop} and the operators of a beam search contain the nodes of a subgraph and
 * an executor of their own. A parent follows its children in the file, and start and duration are rounded down to whole
 * microseconds, each on its own; see <a
 * href="https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/common/profiler.cc">profiler.cc</a>.
 *
 * <p><b>In a timeline</b> the category of a node lists the operator, the provider and the types of its inputs and
 * outputs, as in {@code Node,MatMul,CPUExecutionProvider,float>float}. A converted timeline therefore has the same
 * profile. The elements of a run are the rows of the first node on its thread that computes activations, a matrix of
 * floating-point numbers: the product of the first output's dimensions without the last one, which is the number of
 * tokens if the model looks them up first. Nodes before it, such as those that compute shapes, have as many rows for a
 * prompt as for a token. The same holds for fences, which older versions write around a node.
 */
final class OnnxRuntime {

    /** The category of the execution of a node. */
    static final String NODE = "Node";

    /** The category of events of the session. */
    static final String SESSION = "Session";

    // The arguments that rules may test.
    static final String OPERATOR = "op_name";
    static final String PROVIDER = "provider";
    static final String TYPES = "types";

    /** The most events that ONNX Runtime records; the file does not state how many it lost. */
    static final long MOST_EVENTS = 1_000_000;

    /** The most by which a parent can end before its last child, since start and duration are each rounded down. */
    static final long ROUNDING_NS = 2_000;

    private static final String KERNEL_TIME = "_kernel_time";
    private static final String LISTED = NODE + ",";
    private static final int MOST_THREADS = 1 << 12;

    private static final Pattern LOADING = Pattern.compile("model_loading_\\w+|session_initialization");
    private static final Pattern EXECUTOR = Pattern.compile("(Sequential|Parallel)Executor::Execute");
    private static final Pattern CONTAINER =
            Pattern.compile("If|Loop|Scan|BeamSearch|WhisperBeamSearch|GreedySearch|Sampling");
    private static final Pattern ACTIVATION = Pattern.compile("b?float(16)?|double");
    private static final Pattern LAYER = Pattern.compile("(?:^|[/.])(?:layers?|h|blocks?|block)[./](\\d{1,6})(?=[./])");

    /** For each thread, the node since its last run that decides the rows of the next run. */
    private final Map<String, First> firsts = new HashMap<>();

    /** The node of a run that decides its rows. Immutable. */
    private record First(long startNs, long rows, boolean isActivation) {

        /**
         * Returns whether this node decides instead of another one. A node that computes activations precedes all
         * others; of two equal nodes, the earlier one decides.
         */
        boolean isBefore(First other) {
            return isActivation == other.isActivation ? startNs < other.startNs : isActivation;
        }
    }

    /** Returns the kind of an event of the session. */
    static Kind kindOf(String name) {
        return switch (name) {
            case "model_run" -> Kind.RUN;
            default ->
                EXECUTOR.matcher(name).matches()
                        ? Kind.WRAPPER
                        : LOADING.matcher(name).matches() ? Kind.LOADING : Kind.OTHER;
        };
    }

    /** Returns whether an operator contains the nodes of a subgraph. */
    static boolean isContainer(TraceRule.Key key) {
        return key.category().equals(NODE)
                && CONTAINER.matcher(key.args().getOrDefault(OPERATOR, "")).matches();
    }

    /** Completes an event before the views receive it; an event of another program stays unchanged. */
    void complete(TraceEvent event) {
        if (event.category.equals(NODE)) {
            node(event);
        } else if (event.category.startsWith(LISTED)) {
            listed(event);
        } else if (event.category.equals(SESSION) && event.kind() == Kind.RUN) {
            First first = firsts.remove(threadOf(event));
            if (first != null && first.startNs() >= event.startNs && event.elements < 0) {
                event.elements = first.rows();
            }
        }
    }

    private void node(TraceEvent event) {
        if (event.operator.isEmpty()) {
            return;
        }
        String path = event.name.endsWith(KERNEL_TIME)
                ? event.name.substring(0, event.name.length() - KERNEL_TIME.length())
                : event.name;
        event.name = path.isEmpty() ? event.operator : path;
        event.types = event.inputs.typeNames() + ">" + event.outputs.typeNames();
        keep(event);
        String thread = threadOf(event);
        First known = firsts.get(thread);
        First node = new First(event.startNs, event.outputs.rowsOfFirst(), isActivation(event.outputs));
        if (Microseconds.isTime(event.startNs) && (known == null || node.isBefore(known))) {
            if (known != null || firsts.size() < MOST_THREADS) {
                firsts.put(thread, node);
            }
        }
    }

    /** Returns whether the first tensor is a matrix, or a batch of matrices, of floating-point numbers. */
    private static boolean isActivation(TensorShapes outputs) {
        return outputs.rowsOfFirst() >= 0
                && outputs.rank(0) > 1
                && ACTIVATION.matcher(outputs.type(0)).matches();
    }

    /** Splits the category of a node that was read from a converted timeline. */
    private static void listed(TraceEvent event) {
        String[] parts = event.category.split(",", 4);
        if (parts.length == 4) {
            event.category = NODE;
            event.operator = parts[1];
            event.provider = parts[2];
            event.types = parts[3];
            keep(event);
        }
    }

    private static void keep(TraceEvent event) {
        event.ruleArgs.put(OPERATOR, event.operator);
        event.ruleArgs.put(PROVIDER, event.provider);
        event.ruleArgs.put(TYPES, event.types);
        Matcher layer = LAYER.matcher(event.name);
        if (layer.find()) {
            event.args.putIfAbsent(TraceEvent.LAYER, layer.group(1));
        }
    }

    /** Returns the category of an event in a timeline. */
    static String categoryInTimeline(TraceEvent event) {
        return event.category.equals(NODE) && !event.operator.isEmpty()
                ? LISTED + event.operator + "," + event.provider + "," + event.types
                : event.category;
    }

    private static String threadOf(TraceEvent event) {
        return event.process + '\0' + event.thread;
    }
}
