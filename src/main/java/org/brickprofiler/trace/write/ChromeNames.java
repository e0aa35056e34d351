package org.brickprofiler.trace.write;

import java.util.List;
import java.util.regex.Pattern;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.trace.SpanName;

/** The names of a timeline as JSON, made once, with what Kineto's readers know them as. Immutable. */
final class ChromeNames {

    private static final Pattern STEP = Pattern.compile("ProfilerStep#\\d+");

    private final byte[][] names;
    private final byte[][] categories;
    private final boolean[] transfers;
    private final boolean[] steps;
    private final boolean[] numberedSteps;

    ChromeNames(List<SpanName> all) {
        int count = all.size();
        names = new byte[count][];
        categories = new byte[count][];
        transfers = new boolean[count];
        steps = new boolean[count];
        numberedSteps = new boolean[count];
        for (int name = 0; name < count; name++) {
            SpanName spanName = all.get(name);
            names[name] = JsonBuffer.quoted(spanName.name());
            categories[name] = JsonBuffer.quoted(spanName.category());
            transfers[name] = spanName.category().equals(BrickCategory.TRANSFER.displayName());
            steps[name] = spanName.category().equals(SpanName.STEP);
            numberedSteps[name] = STEP.matcher(spanName.name()).matches();
        }
    }

    int checked(int name) {
        if (name < 0 || name >= names.length) {
            throw new IllegalArgumentException("name " + name + " of " + names.length);
        }
        return name;
    }

    byte[] name(int name) {
        return names[name];
    }

    byte[] category(int name) {
        return categories[name];
    }

    boolean isTransfer(int name) {
        return transfers[name];
    }

    boolean isStep(int name) {
        return steps[name];
    }

    /** Whether a step's name already is what readers of steps look for. */
    boolean isNumberedStep(int name) {
        return numberedSteps[name];
    }

    /** The category that Kineto's readers sort events by. */
    String kinetoCategory(int name, boolean onDevice) {
        if (onDevice) {
            return steps[name] ? "gpu_user_annotation" : transfers[name] ? "gpu_memcpy" : "kernel";
        }
        return steps[name] ? "user_annotation" : "cpu_op";
    }
}
