package org.brickprofiler.trace.read;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.eclipse.collections.impl.list.mutable.primitive.LongArrayList;

/** A track event as it stands in its packet; the same object for all of them. One thread. */
final class PerfettoEvent {

    /** More than any event has; further ones are passed over. */
    private static final int MOST_CATEGORIES = 64;

    private static final int MOST_ANNOTATIONS = 256;

    private static final int MOST_FLOWS = 64;

    final LongArrayList categoryIids = new LongArrayList();
    final List<String> categories = new ArrayList<>();
    final List<Annotation> annotations = new ArrayList<>();

    final LongArrayList flows = new LongArrayList();
    final LongArrayList terminatingFlows = new LongArrayList();

    long type;
    double value;
    /** Fields, and entries beyond the limits, that were passed over. */
    int skipped;
    long nameIid;
    String name = "";
    boolean hasTrack;
    long track;

    /**
     * An argument. Immutable.
     *
     * @param nameIid the number of its name, 0 where it has the name itself
     * @param name its name
     * @param isWhole whether it is a whole number that fits
     * @param whole that number
     * @param text its text, where it is something else; empty where it has parts
     */
    record Annotation(long nameIid, String name, boolean isWhole, long whole, String text) {

        String asText() {
            return isWhole ? Long.toString(whole) : text;
        }
    }

    /** Reads the message that was entered. */
    void read(ProtoInput in, int mostBytes) throws IOException {
        clear();
        while (in.nextField()) {
            if (in.wireType() == ProtoInput.VARINT) {
                number(in);
            } else if (in.wireType() == ProtoInput.FIXED64) {
                fixed(in);
            } else {
                text(in, mostBytes);
            }
        }
    }

    private void clear() {
        categoryIids.clear();
        categories.clear();
        annotations.clear();
        flows.clear();
        terminatingFlows.clear();
        value = Double.NaN;
        skipped = 0;
        type = 0;
        nameIid = 0;
        name = "";
        hasTrack = false;
        track = 0;
    }

    private void number(ProtoInput in) throws IOException {
        switch (in.fieldOf(ProtoInput.VARINT)) {
            case PerfettoFields.EVENT_TYPE -> type = in.varint();
            case PerfettoFields.EVENT_NAME_IID -> nameIid = in.varint();
            case PerfettoFields.EVENT_CATEGORY_IIDS -> addCategory(in.varint());
            case PerfettoFields.EVENT_TRACK_UUID -> {
                hasTrack = true;
                track = in.varint();
            }
            case PerfettoFields.EVENT_COUNTER_VALUE -> value = (double) in.varint();
            default -> skip(in);
        }
    }

    private void fixed(ProtoInput in) throws IOException {
        switch (in.fieldOf(ProtoInput.FIXED64)) {
            case PerfettoFields.EVENT_DOUBLE_COUNTER_VALUE -> value = Double.longBitsToDouble(in.fixed64());
            case PerfettoFields.EVENT_FLOWS -> addFlow(flows, in.fixed64());
            case PerfettoFields.EVENT_TERMINATING_FLOWS -> addFlow(terminatingFlows, in.fixed64());
            default -> skip(in);
        }
    }

    private void addFlow(LongArrayList ends, long flow) {
        if (ends.size() < MOST_FLOWS) {
            ends.add(flow);
        } else {
            skipped++;
        }
    }

    private void skip(ProtoInput in) throws IOException {
        skipped++;
        in.skip();
    }

    private void text(ProtoInput in, int mostBytes) throws IOException {
        switch (in.fieldOf(ProtoInput.LENGTH_DELIMITED)) {
            case PerfettoFields.EVENT_NAME -> name = Names.bounded(in.text(mostBytes));
            case PerfettoFields.EVENT_CATEGORIES -> {
                String category = Names.bounded(in.text(mostBytes));
                if (categories.size() < MOST_CATEGORIES) {
                    categories.add(category);
                }
            }
            case PerfettoFields.EVENT_CATEGORY_IIDS -> {
                long outer = in.enter();
                while (in.isInside()) {
                    addCategory(in.varint());
                }
                in.leave(outer);
            }
            case PerfettoFields.EVENT_ANNOTATIONS -> {
                long outer = in.enter();
                if (annotations.size() < MOST_ANNOTATIONS) {
                    annotations.add(annotation(in, mostBytes));
                } else {
                    skipped++;
                }
                in.leave(outer);
            }
            default -> skip(in);
        }
    }

    private void addCategory(long iid) {
        if (categoryIids.size() < MOST_CATEGORIES) {
            categoryIids.add(iid);
        }
    }

    private static Annotation annotation(ProtoInput in, int mostBytes) throws IOException {
        long iid = 0;
        String name = "";
        boolean isWhole = false;
        long whole = 0;
        String text = "";
        while (in.nextField()) {
            if (in.is(PerfettoFields.ANNOTATION_NAME_IID, ProtoInput.VARINT)) {
                iid = in.varint();
            } else if (in.is(PerfettoFields.ANNOTATION_NAME, ProtoInput.LENGTH_DELIMITED)) {
                name = Names.bounded(in.text(mostBytes));
            } else if (in.is(PerfettoFields.ANNOTATION_INT, ProtoInput.VARINT)) {
                whole = in.varint();
                isWhole = true;
            } else if (in.is(PerfettoFields.ANNOTATION_UINT, ProtoInput.VARINT)) {
                whole = in.varint();
                isWhole = whole >= 0;
                text = Long.toUnsignedString(whole);
            } else if (in.is(PerfettoFields.ANNOTATION_BOOL, ProtoInput.VARINT)) {
                text = String.valueOf(in.varint() != 0);
            } else if (in.is(PerfettoFields.ANNOTATION_DOUBLE, ProtoInput.FIXED64)) {
                text = String.valueOf(Double.longBitsToDouble(in.fixed64()));
            } else if (in.is(PerfettoFields.ANNOTATION_STRING, ProtoInput.LENGTH_DELIMITED)) {
                text = Names.bounded(in.text(mostBytes));
            } else {
                in.skip();
            }
        }
        return new Annotation(iid, name, isWhole, whole, text);
    }
}
