package org.brickprofiler.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.BrickId;

/**
 * A deliberate fault: one value of one brick's output is changed, from a given pass on. Two runs, one of them with the
 * fault, stop agreeing at that brick.
 *
 * @param layer the layer, from 0
 * @param brick the brick
 * @param occurrence the occurrence of the brick in the layer, from 1
 */
record Perturbation(int layer, BrickId brick, int occurrence) {

    private static final Pattern TEXT = Pattern.compile("(\\d{1,9}):([^#]+)(?:#(\\d{1,9}))?");

    /**
     * Reads {@code LAYER:BRICK} or {@code LAYER:BRICK#N}.
     *
     * @throws IllegalArgumentException when the text has another form, or there is no such brick; the message says
     *     which
     */
    static Perturbation parse(String text) {
        Matcher parts = TEXT.matcher(text);
        if (!parts.matches()) {
            throw new IllegalArgumentException("perturb '" + text + "' is not LAYER:BRICK or LAYER:BRICK#N");
        }
        int occurrence = parts.group(3) == null ? 1 : Integer.parseInt(parts.group(3));
        return new Perturbation(Integer.parseInt(parts.group(1)), brick(parts.group(2)), occurrence);
    }

    /**
     * Returns the brick of a name from the command line.
     *
     * @throws IllegalArgumentException when there is none; the message names it
     */
    static BrickId brick(String name) {
        return BrickId.parse(name).orElseThrow(() -> new IllegalArgumentException("there is no brick '" + name + "'"));
    }

    /**
     * Returns the pass with the fault in it.
     *
     * @param pass the pass
     * @param firstRun the run of the pass that the fault begins with, from 0
     * @throws IllegalArgumentException when the pass has no such brick
     */
    Pass appliedTo(Pass pass, int firstRun) {
        if (layer >= pass.layers().size()) {
            throw new IllegalArgumentException("there is no layer " + layer + ": the layers are 0 to "
                    + (pass.layers().size() - 1));
        }
        List<List<Pass.Step>> layers = new ArrayList<>(pass.layers());
        layers.set(layer, appliedTo(pass.layers().get(layer), firstRun));
        return pass.withLayers(layers);
    }

    private List<Pass.Step> appliedTo(List<Pass.Step> steps, int firstRun) {
        List<Pass.Step> changed = new ArrayList<>(steps);
        int seen = 0;
        for (int i = 0; i < steps.size(); i++) {
            Pass.Step step = steps.get(i);
            if (step.brick() == brick && ++seen == occurrence) {
                changed.set(i, new Pass.Step(brick, faulty(step.operation(), firstRun)));
                return changed;
            }
        }
        throw new IllegalArgumentException(
                "a layer has " + seen + " bricks " + brick.displayName() + ", not " + occurrence);
    }

    private static Pass.Operation faulty(Pass.Operation right, int firstRun) {
        return new Pass.Operation() {
            private int runs;

            @Override
            public float[] run() {
                float[] output = right.run();
                if (runs++ >= firstRun) {
                    output[0] += 1;
                }
                return output;
            }
        };
    }
}
