package org.brickprofiler.agent;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.brickprofiler.internal.base.Plural;

/**
 * The time of each category and each operator in a profile of ONNX Runtime, over the runs that it holds as a whole:
 * when a million events are recorded, the profile stops. Immutable.
 *
 * @param runs the number of these runs
 * @param categories the time of each category in them, us
 * @param operators the time of each operator in them, us
 */
record OnnxSums(long runs, Map<String, Long> categories, Map<String, Long> operators) {

    /** Operators whose time contains that of the nodes of a subgraph. */
    private static final Set<String> CONTAINERS =
            Set.of("If", "Loop", "Scan", "BeamSearch", "WhisperBeamSearch", "GreedySearch", "Sampling");

    private static final String KERNEL_TIME = "_kernel_time";

    /** The most categories, and the most operators, that the text names. */
    private static final int NAMED = 5;

    /** Times by a name, us: of whole runs, and of the nodes since the last one. */
    private static final class Sums {
        private final Map<String, Long> whole = new HashMap<>();
        private final Map<String, Long> current = new HashMap<>();

        void add(String name, long us) {
            current.merge(name, us, Long::sum);
        }

        void endRun() {
            current.forEach((name, us) -> whole.merge(name, us, Long::sum));
            current.clear();
        }
    }

    /**
     * Reads a profile.
     *
     * @throws IOException when it cannot be read, or is damaged
     */
    static OnnxSums read(Path file) throws IOException {
        OnnxParts parts = OnnxParts.read();
        Sums categories = new Sums();
        Sums operators = new Sums();
        long runs = 0;
        try (JsonParser json = new JsonFactory().createParser(file.toFile())) {
            json.nextToken();
            while (json.nextToken() == JsonToken.START_OBJECT) {
                Event event = event(json);
                if (event.isNode() && !CONTAINERS.contains(event.operator)) {
                    categories.add(parts.categoryOf(event.operator, event.path()), event.durationUs);
                    operators.add(event.operator, event.durationUs);
                } else if (event.name.equals("model_run")) {
                    // A run follows its nodes.
                    categories.endRun();
                    operators.endRun();
                    runs++;
                }
            }
        }
        return new OnnxSums(runs, Map.copyOf(categories.whole), Map.copyOf(operators.whole));
    }

    private record Event(String name, String category, String operator, long durationUs) {
        boolean isNode() {
            return category.equals("Node") && name.endsWith(KERNEL_TIME) && !operator.isEmpty();
        }

        String path() {
            return name.substring(0, name.length() - KERNEL_TIME.length());
        }
    }

    private static Event event(JsonParser json) throws IOException {
        String name = "";
        String category = "";
        String operator = "";
        long durationUs = 0;
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String key = json.currentName();
            json.nextToken();
            switch (key) {
                case "name" -> name = json.getText();
                case "cat" -> category = json.getText();
                case "dur" -> durationUs = json.getLongValue();
                case "args" -> operator = operator(json);
                default -> json.skipChildren();
            }
        }
        return new Event(name, category, operator, durationUs);
    }

    private static String operator(JsonParser json) throws IOException {
        String operator = "";
        if (json.currentToken() == JsonToken.START_OBJECT) {
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String key = json.currentName();
                json.nextToken();
                if (key.equals("op_name")) {
                    operator = json.getText();
                } else {
                    json.skipChildren();
                }
            }
        }
        return operator;
    }

    /**
     * Returns the shares in words.
     *
     * @param number the number of the session
     * @param ofRuns the runs of the session
     */
    String text(int number, long ofRuns) {
        long all = operators.values().stream().mapToLong(Long::longValue).sum();
        return "ONNX Runtime's own profile of session " + number + " holds " + runs + " of "
                + Plural.of(ofRuns, "run")
                + (all == 0
                        ? ""
                        : "; inside of them: " + shares(categories, all) + "; by operator: " + shares(operators, all));
    }

    private static String shares(Map<String, Long> times, long all) {
        List<Map.Entry<String, Long>> sorted = new ArrayList<>(times.entrySet());
        sorted.sort(Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder())
                .thenComparing(Map.Entry.comparingByKey()));
        List<String> shares = new ArrayList<>();
        long named = 0;
        for (Map.Entry<String, Long> each : sorted.subList(0, Math.min(NAMED, sorted.size()))) {
            shares.add(each.getKey() + percent(each.getValue(), all));
            named += each.getValue();
        }
        if (sorted.size() > NAMED) {
            shares.add("others" + percent(all - named, all));
        }
        return String.join(", ", shares);
    }

    private static String percent(long us, long all) {
        return String.format(Locale.ROOT, " %.0f %%", 100.0 * us / all);
    }
}
