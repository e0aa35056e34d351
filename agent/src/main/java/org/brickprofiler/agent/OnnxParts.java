package org.brickprofiler.agent;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.jspecify.annotations.Nullable;

/**
 * The category of a node of ONNX Runtime, by the rules that {@code brick report} has for such nodes: the build puts the
 * same file beside this class. Unlike the report, this does not look for the place of a product between other nodes.
 * One thread.
 */
final class OnnxParts {

    private static final String RULES = "builtin.rules";
    private static final String OF_NODES = "cat=/^Node$/";

    /** A rule for nodes: the brick, maybe its category, and a pattern for the operator, the name, or both. */
    private static final Pattern RULE = Pattern.compile("(?<brick>\\w+) *(?:\\((?<category>[^)]+)\\))? *<- "
            + Pattern.quote(OF_NODES)
            + "(?: args\\.op_name=/(?<operator>(?:\\\\/|[^/])+)/)?"
            + "(?: name=/(?<name>(?:\\\\/|[^/])+)/(?<anyCase>i)?)?");

    private static final Pattern ANY = Pattern.compile("");

    private final List<Part> parts;
    private final Map<String, String> known = new HashMap<>();

    private record Part(Pattern operator, Pattern name, String category) {}

    private OnnxParts(List<Part> parts) {
        this.parts = parts;
    }

    /**
     * Reads the rules.
     *
     * @throws IOException when they are missing, or one has a form that this class does not know
     */
    static OnnxParts read() throws IOException {
        try (InputStream text = OnnxParts.class.getResourceAsStream(RULES)) {
            if (text == null) {
                throw new IOException(RULES + " is missing");
            }
            List<Part> parts = new ArrayList<>();
            BufferedReader lines = new BufferedReader(new InputStreamReader(text, StandardCharsets.UTF_8));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.contains(OF_NODES)) {
                    parts.add(part(line));
                }
            }
            return new OnnxParts(parts);
        }
    }

    private static Part part(String line) throws IOException {
        Matcher rule = RULE.matcher(line);
        if (!rule.matches()) {
            throw new IOException("a rule for nodes has an unknown form: " + line);
        }
        String category = rule.group("category");
        return new Part(
                pattern(rule.group("operator"), 0),
                pattern(rule.group("name"), rule.group("anyCase") == null ? 0 : Pattern.CASE_INSENSITIVE),
                category != null
                        ? category
                        : BrickId.parse(rule.group("brick"))
                                .map(BrickId::category)
                                .orElse(BrickCategory.OTHER)
                                .displayName());
    }

    private static Pattern pattern(@Nullable String regex, int flags) {
        return regex == null ? ANY : Pattern.compile(regex, flags);
    }

    /**
     * Returns the display name of the category of a node.
     *
     * @param operator its operator
     * @param name its path in the graph
     */
    String categoryOf(String operator, String name) {
        return known.computeIfAbsent(operator + '\n' + name, key -> parts.stream()
                .filter(part -> part.operator.matcher(operator).find()
                        && part.name.matcher(name).find())
                .findFirst()
                .map(Part::category)
                .orElse(BrickCategory.OTHER.displayName()));
    }
}
