package org.brickprofiler.demo;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.BrickId;

/**
 * A deliberate waste of time: after each execution of a brick the thread spins for a share of the brick's time. A
 * comparison with a run without it must find it.
 *
 * @param brick the brick
 * @param percent how much longer it takes, % of each execution
 */
record Slowdown(BrickId brick, double percent) {

    private static final Pattern TEXT = Pattern.compile("([^=]+)=(\\d{1,4}(?:\\.\\d{1,3})?)");

    /**
     * Reads {@code BRICK=PERCENT}.
     *
     * @throws IllegalArgumentException when the text has another form, or there is no such brick; the message says
     *     which
     */
    static Slowdown parse(String text) {
        Matcher parts = TEXT.matcher(text);
        if (!parts.matches()) {
            throw new IllegalArgumentException("waste '" + text + "' is not BRICK=PERCENT");
        }
        return new Slowdown(Perturbation.brick(parts.group(1)), Double.parseDouble(parts.group(2)));
    }

    /**
     * Returns the pass with the waste in it.
     *
     * @throws IllegalArgumentException when the pass has no such brick
     */
    Pass appliedTo(Pass pass) {
        Pass slow = new Pass(
                appliedTo(pass.opening()),
                pass.layers().stream().map(this::appliedTo).toList(),
                appliedTo(pass.closing()),
                pass.work());
        if (slow.equals(pass)) {
            throw new IllegalArgumentException("a pass has no brick " + brick.displayName());
        }
        return slow;
    }

    private List<Pass.Step> appliedTo(List<Pass.Step> steps) {
        return steps.stream()
                .map(step -> step.brick() == brick ? new Pass.Step(brick, slow(step.operation())) : step)
                .toList();
    }

    private Pass.Operation slow(Pass.Operation right) {
        double share = percent / 100;
        return () -> {
            long startNs = System.nanoTime();
            float[] output = right.run();
            long endNs = System.nanoTime();
            long wasteNs = Math.round((endNs - startNs) * share);
            while (System.nanoTime() - endNs < wasteNs) {
                Thread.onSpinWait();
            }
            return output;
        };
    }
}
