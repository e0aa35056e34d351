package org.brickprofiler.trace;

/** The span that a {@link Line} shows its visitors, one after the other. One thread. */
final class LineSpan implements Span {

    private long startNs;
    private long endNs;
    private int name;
    private long elements;
    private boolean isDeviceSample;
    private int layer;
    private long deviceNs;
    private long flowOut;
    private long flowIn;

    LineSpan of(
            long start,
            long end,
            int nameIndex,
            long elementCount,
            boolean timedByDevice,
            int layerNumber,
            long onDeviceNs,
            long out,
            long in) {
        startNs = start;
        endNs = end;
        name = nameIndex;
        elements = elementCount;
        isDeviceSample = timedByDevice;
        layer = layerNumber;
        deviceNs = onDeviceNs;
        flowOut = out;
        flowIn = in;
        return this;
    }

    LineSpan ofStage(Stages stages, int stage) {
        int layerNumber = stages.layer(stage);
        return of(stages.startNs(stage), stages.endNs(stage), stages.name(stage), -1, false, layerNumber, -1, 0, 0);
    }

    @Override
    public long startNs() {
        return startNs;
    }

    @Override
    public long endNs() {
        return endNs;
    }

    @Override
    public int name() {
        return name;
    }

    @Override
    public long elements() {
        return elements;
    }

    @Override
    public boolean isDeviceSample() {
        return isDeviceSample;
    }

    @Override
    public int layer() {
        return layer;
    }

    @Override
    public long deviceNs() {
        return deviceNs;
    }

    @Override
    public long flowOut() {
        return flowOut;
    }

    @Override
    public long flowIn() {
        return flowIn;
    }
}
