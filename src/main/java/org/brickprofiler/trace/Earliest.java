package org.brickprofiler.trace;

/** Finds the first moment among the events it is told. */
final class Earliest implements TimelineVisitor {

    private boolean any;
    private long firstNs;

    @Override
    public void span(Span span) {
        at(span.startNs());
    }

    @Override
    public void instant(long atNs, int name) {
        at(atNs);
    }

    @Override
    public void counter(long atNs, double value) {
        at(atNs);
    }

    private void at(long ns) {
        if (!any || ns < firstNs) {
            any = true;
            firstNs = ns;
        }
    }

    long orElse(long noneNs) {
        return any ? firstNs : noneNs;
    }
}
