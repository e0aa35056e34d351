package org.brickprofiler.trace.write;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.trace.SpanName;

/** The names of a timeline as JSON, made once, with what Kineto's readers know them as. Immutable. */
final class ChromeNames {

    private static final Pattern STEP = Pattern.compile("ProfilerStep#\\d+");

    private static final byte[] KERNEL = JsonBuffer.quoted("kernel");
    private static final byte[] MEMCPY = JsonBuffer.quoted("gpu_memcpy");
    private static final byte[] DEVICE_STEP = JsonBuffer.quoted("gpu_user_annotation");
    private static final byte[] HOST_STEP = JsonBuffer.quoted("user_annotation");
    private static final byte[] CPU_OP = JsonBuffer.quoted("cpu_op");

    /** The categories of a profiler's own spans on threads, which readers look for among the host's operations. */
    private static final Set<String> OPERATIONS = Stream.concat(
                    Stream.of(SpanName.LAYER),
                    Arrays.stream(BrickCategory.values()).map(BrickCategory::displayName))
            .collect(Collectors.toUnmodifiableSet());

    /** What readers take for a device's work, a call to its runtime, a flow or the whole recording. */
    private static final Pattern TAKEN =
            Pattern.compile("kernel|memcpy|memset|trace|ac2g|(gpu|cuda)_.*", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

    private final byte[][] names;
    private final byte[][] categories;
    /** What a name on a thread is known as. */
    private final byte[][] onHost;
    private final boolean[] transfers;
    private final boolean[] steps;
    private final boolean[] numberedSteps;
    private final Origin origin;

    ChromeNames(List<SpanName> all, Origin origin) {
        this.origin = origin;
        int count = all.size();
        names = new byte[count][];
        categories = new byte[count][];
        onHost = new byte[count][];
        transfers = new boolean[count];
        steps = new boolean[count];
        numberedSteps = new boolean[count];
        for (int name = 0; name < count; name++) {
            SpanName spanName = all.get(name);
            names[name] = JsonBuffer.quoted(spanName.name());
            categories[name] = JsonBuffer.quoted(spanName.category());
            transfers[name] = spanName.category().equals(BrickCategory.TRANSFER.displayName());
            steps[name] = isOwn() && spanName.category().equals(SpanName.STEP);
            onHost[name] = steps[name] ? HOST_STEP : isOperation(spanName.category()) ? CPU_OP : categories[name];
            numberedSteps[name] = STEP.matcher(spanName.name()).matches();
        }
    }

    private static boolean isOperation(String category) {
        return OPERATIONS.contains(category) || TAKEN.matcher(category).matches();
    }

    /** Whether this library recorded what is written. */
    boolean isOwn() {
        return origin == Origin.OWN;
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

    /** The category that Kineto's readers sort events by, as JSON; that of another program's is its own. */
    byte[] kinetoCategory(int name, boolean onDevice) {
        if (!isOwn()) {
            return categories[name];
        }
        if (onDevice) {
            return steps[name] ? DEVICE_STEP : transfers[name] ? MEMCPY : KERNEL;
        }
        return onHost[name];
    }
}
