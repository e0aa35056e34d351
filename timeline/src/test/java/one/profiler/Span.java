package one.profiler;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Stands for the class of async-profiler, and keeps all spans. */
public final class Span {

    /** The spans so far. */
    public static final List<Emitted> EMITTED = new CopyOnWriteArrayList<>();

    /** A span. */
    public record Emitted(long start, long end, String tag) {}

    private Span() {}

    public static void emitIfProfiled(long start, long end, String tag) {
        EMITTED.add(new Emitted(start, end, tag));
    }
}
