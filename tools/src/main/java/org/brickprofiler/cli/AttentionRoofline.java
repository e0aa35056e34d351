package org.brickprofiler.cli;

import static org.brickprofiler.report.internal.HumanUnits.duration;
import static org.brickprofiler.report.internal.HumanUnits.number;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.report.Finding;
import org.brickprofiler.report.FindingSource;
import org.brickprofiler.trace.read.TraceProfile;
import org.brickprofiler.trace.read.TraceProfile.AnnotatedSteps;

/**
 * The roofline of the attention in a trace whose steps state their pairs of query and key, as vLLM and SGLang annotate
 * them ({@code sqsq}, {@code sqsk}). The trace has neither the dimensions of the heads nor the limits of the device:
 * the caller states them. Immutable; any thread.
 *
 * <p>A pair takes 4 operations for each dimension of each query head: a multiplication and an addition for its score,
 * and as many for its part of the output (Dao et al., "FlashAttention: fast and memory-efficient exact attention with
 * IO-awareness", NeurIPS 2022, whose figures are these for whole sequences). The least bytes are those of reading the
 * keys and values of each sequence once in a step, of reading the queries, and of writing the outputs.
 *
 * <p>The trace does not show the number of layers. More than one kernel in each stated layer may be right, as for
 * kernels that divide the keys, or a sign of a wrong number: such a phase has a remark, and is no finding.
 *
 * @param shape the heads
 * @param phases the attention of each phase of steps
 */
record AttentionRoofline(Shape shape, List<OfPhase> phases) implements FindingSource {

    private static final Set<String> BRICKS = Set.of(
            BrickId.FUSED_ATTENTION.displayName(),
            BrickId.ATTENTION_SCORE.displayName(),
            BrickId.ATTENTION_SOFTMAX.displayName(),
            BrickId.ATTENTION_OUTPUT.displayName());

    private static final double GIGA = 1e9;
    private static final double TERA = 1e12;
    private static final double NS_PER_SECOND = 1e9;

    /** The share of a brick's time above the roof below which it is no finding. */
    private static final double LEAST_DISTANCE = 0.1;

    /**
     * The heads, and the limits of the device.
     *
     * @param layers layers with full attention
     * @param heads query heads
     * @param keyHeads heads of keys and values
     * @param dimension the dimension of a head
     * @param bytes bytes of an element of queries, keys, values and outputs
     * @param teraflops the highest rate of operations of the device, 10<sup>12</sup>/s; empty if it is not stated
     * @param gigabytes the bandwidth of its memory, 10<sup>9</sup> bytes/s; empty if it is not stated
     */
    record Shape(
            long layers,
            long heads,
            long keyHeads,
            long dimension,
            double bytes,
            OptionalDouble teraflops,
            OptionalDouble gigabytes) {

        private static final List<String> REQUIRED = List.of("layers", "heads", "dim");
        private static final List<String> OPTIONAL = List.of("kv-heads", "bytes", "tflops", "gbps");
        private static final double MOST = 1e6;
        private static final double USUAL_BYTES = 2;

        /**
         * Reads the numbers.
         *
         * @param text numbers by name, such as {@code layers=36,heads=64,kv-heads=8,dim=64,tflops=989,gbps=3350};
         *     without {@code kv-heads}, there are as many as query heads, and without {@code bytes}, an element has 2
         * @throws IllegalArgumentException when the text is something else; the message names the wrong part
         */
        static Shape parse(String text) {
            Map<String, Double> numbers = new LinkedHashMap<>();
            for (String part : text.split(",", -1)) {
                int at = part.indexOf('=');
                String name = at < 0 ? part.strip() : part.substring(0, at).strip();
                String value = at < 0 ? "" : part.substring(at + 1).strip();
                boolean isKnown = REQUIRED.contains(name) || OPTIONAL.contains(name);
                if (!isKnown || numbers.containsKey(name) || !value.matches("\\d{1,7}(\\.\\d{1,6})?")) {
                    throw new IllegalArgumentException(
                            "'" + part + "' in '" + text + "' is no number by name: expected "
                                    + String.join(", ", REQUIRED) + ", and perhaps " + String.join(", ", OPTIONAL)
                                    + ", such as layers=36,heads=64,kv-heads=8,dim=64,tflops=989,gbps=3350");
                }
                numbers.put(name, Double.parseDouble(value));
            }
            for (String name : REQUIRED) {
                if (!numbers.containsKey(name)) {
                    throw new IllegalArgumentException("'" + text + "' lacks " + name + "=");
                }
            }
            numbers.forEach((name, value) -> {
                boolean isWhole = !(name.equals("bytes") || name.equals("tflops") || name.equals("gbps"));
                if (!(value > 0 && value <= MOST) || (isWhole && value != Math.rint(value))) {
                    throw new IllegalArgumentException(name + "=" + value + " is not "
                            + (isWhole ? "a whole number from 1" : "above 0") + " to 1e6");
                }
            });
            double heads = numbers.getOrDefault("heads", 0.0);
            double keyHeads = numbers.getOrDefault("kv-heads", heads);
            if (keyHeads > heads || heads % keyHeads != 0) {
                throw new IllegalArgumentException(
                        "heads=" + (long) heads + " is no multiple of kv-heads=" + (long) keyHeads);
            }
            return new Shape(
                    numbers.getOrDefault("layers", 0.0).longValue(),
                    (long) heads,
                    (long) keyHeads,
                    numbers.getOrDefault("dim", 0.0).longValue(),
                    numbers.getOrDefault("bytes", USUAL_BYTES),
                    optional(numbers, "tflops"),
                    optional(numbers, "gbps"));
        }

        private static OptionalDouble optional(Map<String, Double> numbers, String name) {
            Double value = numbers.get(name);
            return value == null ? OptionalDouble.empty() : OptionalDouble.of(value);
        }
    }

    /**
     * The attention in the steps of a phase.
     *
     * @param phase the phase
     * @param elapsedNs the time of its kernels, ns
     * @param kernels the number of its kernels
     * @param kernelsALayer the number of its kernels in each stated layer of a step
     * @param flops its operations
     * @param bytes the least bytes that it moves
     */
    record OfPhase(StepInfo.Phase phase, long elapsedNs, long kernels, long kernelsALayer, double flops, double bytes) {

        double flopsPerSecond() {
            return flops / elapsedNs * NS_PER_SECOND;
        }

        double bytesPerSecond() {
            return bytes / elapsedNs * NS_PER_SECOND;
        }

        /** Returns the time at the roof as a share of the kernels' time; empty if a limit is not stated. */
        OptionalDouble shareOfRoof(Shape shape) {
            return shape.teraflops().isPresent() && shape.gigabytes().isPresent()
                    ? OptionalDouble.of(Math.max(ofOperations(shape), ofBandwidth(shape)))
                    : OptionalDouble.empty();
        }

        boolean isBoundByMemory(Shape shape) {
            return ofBandwidth(shape) >= ofOperations(shape);
        }

        private double ofOperations(Shape shape) {
            return flopsPerSecond() / (shape.teraflops().orElse(0) * TERA);
        }

        private double ofBandwidth(Shape shape) {
            return bytesPerSecond() / (shape.gigabytes().orElse(0) * GIGA);
        }
    }

    /**
     * Returns the roofline of a trace.
     *
     * @param name the trace in messages
     * @param trace the trace
     * @param shape the heads
     * @throws IllegalArgumentException when the trace has no steps with the numbers, or other kernels of attention than
     *     those of the stated layers; the message states which
     */
    static AttentionRoofline of(String name, TraceProfile trace, Shape shape) {
        if (trace.annotatedSteps().isEmpty()) {
            throw new IllegalArgumentException(
                    name + " has no steps whose annotations state tokens: --attention needs a trace of vLLM or SGLang");
        }
        List<OfPhase> phases = new ArrayList<>();
        for (AnnotatedSteps steps : trace.annotatedSteps()) {
            List<BrickStats> bricks = trace.snapshot().bricks(steps.phase()).stream()
                    .filter(brick -> BRICKS.contains(brick.name()) && brick.totalNs() > 0)
                    .toList();
            if (!bricks.isEmpty()) {
                phases.add(ofPhase(name, steps, bricks, shape));
            }
        }
        if (phases.isEmpty()) {
            throw new IllegalArgumentException(name + " has no kernels of attention in its annotated steps");
        }
        return new AttentionRoofline(shape, List.copyOf(phases));
    }

    private static OfPhase ofPhase(String name, AnnotatedSteps steps, List<BrickStats> bricks, Shape shape) {
        String phase = steps.phase().displayName();
        boolean isKnown = List.of(steps.prompts(), steps.decoding()).stream()
                .allMatch(tokens -> tokens.count().isPresent()
                        && tokens.positions().isPresent()
                        && tokens.pairs().isPresent());
        if (!isKnown) {
            throw new IllegalArgumentException(
                    name + ": the annotations of its " + phase + " steps lack sq, sk, sqsq or sqsk");
        }
        long kernels = bricks.stream().mapToLong(BrickStats::count).sum();
        long layers = Math.multiplyExact(shape.layers(), steps.steps());
        if (kernels % layers != 0) {
            throw new IllegalArgumentException(name + " has " + Plural.of(kernels, "kernel") + " of attention in "
                    + Plural.of(steps.steps(), phase + " step") + ", which is no multiple of layers=" + shape.layers()
                    + ": the time of other layers cannot be told apart");
        }
        double tokens =
                steps.prompts().count().orElse(0) + steps.decoding().count().orElse(0);
        double positions = steps.prompts().positions().orElse(0)
                + steps.decoding().positions().orElse(0);
        double pairs = (double) steps.prompts().pairs().orElse(0)
                + steps.decoding().pairs().orElse(0);
        double width = (double) shape.dimension() * shape.layers();
        return new OfPhase(
                steps.phase(),
                bricks.stream().mapToLong(BrickStats::totalNs).sum(),
                kernels,
                kernels / layers,
                4 * shape.heads() * width * pairs,
                shape.bytes() * width * 2 * (shape.keyHeads() * positions + shape.heads() * tokens));
    }

    /** Returns the lines of a report. */
    String text() {
        StringBuilder text = new StringBuilder(String.format(
                Locale.ROOT,
                "Roofline of attention, as if all %d layers had full attention with %d query heads, %d of keys, of dimension"
                        + " %d%n",
                shape.layers(),
                shape.heads(),
                shape.keyHeads(),
                shape.dimension()));
        for (OfPhase each : phases) {
            text.append("  ")
                    .append(each.phase().displayName())
                    .append(": ")
                    .append(Plural.of(each.kernels(), "kernel"))
                    .append(", ")
                    .append(duration(each.elapsedNs()))
                    .append(": ")
                    .append(number(each.flopsPerSecond() / TERA))
                    .append(" TFLOP/s, at least ")
                    .append(number(each.bytesPerSecond() / GIGA))
                    .append(" GB/s, ")
                    .append(number(each.flops() / each.bytes()))
                    .append(" operations a byte");
            each.shareOfRoof(shape)
                    .ifPresent(share -> text.append(String.format(
                            Locale.ROOT,
                            "; %.1f %% of its roof, the %s%s",
                            100 * share,
                            each.isBoundByMemory(shape) ? "bandwidth" : "rate of operations",
                            share > 1 ? " (above it: a number is wrong, or not all layers have full attention)" : "")));
            text.append('\n');
            if (each.kernelsALayer() > 1) {
                text.append("  ! ")
                        .append(each.kernelsALayer())
                        .append(" kernels in each layer of a step: if attention takes fewer, layers=")
                        .append(shape.layers())
                        .append(" is wrong, and so are the numbers.\n");
            }
        }
        if (shape.teraflops().isEmpty() || shape.gigabytes().isEmpty()) {
            text.append("  Its distance to the device's roof needs tflops= and gbps= of the device.\n");
        }
        return text.toString().replace("\r\n", "\n");
    }

    /** Returns values for JSON, a map for each phase. */
    List<Map<String, Object>> values() {
        List<Map<String, Object>> values = new ArrayList<>();
        for (OfPhase each : phases) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("phase", each.phase().displayName());
            fields.put("kernels", each.kernels());
            fields.put("kernels_a_layer", each.kernelsALayer());
            fields.put("total_ns", each.elapsedNs());
            fields.put("flops", each.flops());
            fields.put("least_bytes", each.bytes());
            each.shareOfRoof(shape).ifPresent(share -> {
                fields.put("share_of_roof", share);
                fields.put("roof", each.isBoundByMemory(shape) ? "memory" : "compute");
            });
            values.add(fields);
        }
        return values;
    }

    @Override
    public List<Finding> candidates(ProfileSnapshot snapshot) {
        List<Finding> found = new ArrayList<>();
        for (OfPhase each : phases) {
            double share = each.shareOfRoof(shape).orElse(1);
            if (share <= 1 - LEAST_DISTANCE && each.kernelsALayer() == 1 && snapshot.totalNs() > 0) {
                double won = Math.min(1, (1 - share) * each.elapsedNs() / snapshot.totalNs());
                String phase = each.phase().displayName();
                found.add(new Finding(
                        Finding.Kind.BELOW_ROOF,
                        "attention, " + phase,
                        won,
                        String.format(
                                Locale.ROOT,
                                "Attention in %s steps runs at %.0f %% of its roof, which is %s: %.0f %% of brick time could"
                                        + " be won there, if all its layers have full attention.",
                                phase,
                                100 * share,
                                each.isBoundByMemory(shape) ? "the memory's bandwidth" : "the rate of operations",
                                100 * won),
                        ""));
            }
        }
        return found;
    }
}
