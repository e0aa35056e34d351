package org.brickprofiler.trace.write;

import com.google.protobuf.CodedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.SpanName;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TimelineVisitor;

/**
 * The event packets of a timeline of one track whose spans lie one after the other, as one would write them with
 * protobuf's own {@link CodedOutputStream}: without objects in between, the size of each message computed first.
 */
public final class CodedPerfetto implements TimelineVisitor {

    private static final int SEQUENCE = 2;

    private final CodedOutputStream out;
    private final List<SpanName> names;
    private final int[] nameIids;
    private int usedNames;
    private final Map<String, Integer> categoryIids = new HashMap<>();
    private final int[] categories;
    private boolean begun;
    private long lastNs;

    private CodedPerfetto(CodedOutputStream out, List<SpanName> names) {
        this.out = out;
        this.names = names;
        this.nameIids = new int[names.size()];
        this.categories = new int[names.size()];
    }

    /** Writes the packets of the first track, without those before its first event. */
    public static void writeEvents(Timeline timeline, OutputStream to) throws IOException {
        CodedOutputStream out = CodedOutputStream.newInstance(to, 1 << 16);
        timeline.replay(0, new CodedPerfetto(out, timeline.names()));
        out.flush();
    }

    @Override
    public void span(Span span) {
        try {
            if (!begun) {
                begun = true;
                lastNs = span.startNs();
            }
            begin(span);
            end(span.endNs());
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private void begin(Span span) throws IOException {
        int name = span.name();
        boolean isNew = nameIids[name] == 0;
        if (isNew) {
            nameIids[name] = ++usedNames;
            categories[name] =
                    categoryIids.computeIfAbsent(names.get(name).category(), category -> categoryIids.size() + 1);
        }
        int eventBytes = CodedOutputStream.computeUInt32Size(9, 1)
                + CodedOutputStream.computeUInt64Size(10, nameIids[name])
                + CodedOutputStream.computeUInt64Size(3, categories[name])
                + annotationBytes(1, span.elements())
                + annotationBytes(2, span.layer())
                + annotationBytes(3, span.deviceNs());
        int internedBytes = isNew ? internedBytes(name) : 0;
        long deltaNs = span.startNs() - lastNs;
        lastNs = span.startNs();
        writePacketHead(deltaNs, eventBytes, isNew ? messageBytes(12, internedBytes) : 0);
        out.writeUInt32(9, 1);
        out.writeUInt64(10, nameIids[name]);
        out.writeUInt64(3, categories[name]);
        writeAnnotation(1, span.elements());
        writeAnnotation(2, span.layer());
        writeAnnotation(3, span.deviceNs());
        if (isNew) {
            writeInterned(name, internedBytes);
        }
    }

    private void end(long endNs) throws IOException {
        long deltaNs = endNs - lastNs;
        lastNs = endNs;
        writePacketHead(deltaNs, CodedOutputStream.computeUInt32Size(9, 2), 0);
        out.writeUInt32(9, 2);
    }

    private void writePacketHead(long deltaNs, int eventBytes, int furtherBytes) throws IOException {
        int packetBytes = CodedOutputStream.computeUInt64Size(8, deltaNs)
                + CodedOutputStream.computeUInt32Size(10, SEQUENCE)
                + CodedOutputStream.computeUInt32Size(13, 2)
                + messageBytes(11, eventBytes)
                + furtherBytes;
        writeMessageHead(1, packetBytes);
        out.writeUInt64(8, deltaNs);
        out.writeUInt32(10, SEQUENCE);
        out.writeUInt32(13, 2);
        writeMessageHead(11, eventBytes);
    }

    private static int messageBytes(int field, int bytes) {
        return CodedOutputStream.computeTagSize(field) + CodedOutputStream.computeUInt32SizeNoTag(bytes) + bytes;
    }

    private void writeMessageHead(int field, int bytes) throws IOException {
        out.writeTag(field, 2);
        out.writeUInt32NoTag(bytes);
    }

    private static int annotationBytes(int iid, long value) {
        return value < 0
                ? 0
                : messageBytes(
                        4, CodedOutputStream.computeUInt64Size(1, iid) + CodedOutputStream.computeInt64Size(4, value));
    }

    private void writeAnnotation(int iid, long value) throws IOException {
        if (value >= 0) {
            writeMessageHead(
                    4, CodedOutputStream.computeUInt64Size(1, iid) + CodedOutputStream.computeInt64Size(4, value));
            out.writeUInt64(1, iid);
            out.writeInt64(4, value);
        }
    }

    private int internedBytes(int name) {
        return messageBytes(1, entryBytes(categories[name], names.get(name).category()))
                + messageBytes(2, entryBytes(nameIids[name], names.get(name).name()));
    }

    private void writeInterned(int name, int internedBytes) throws IOException {
        writeMessageHead(12, internedBytes);
        writeEntry(1, categories[name], names.get(name).category());
        writeEntry(2, nameIids[name], names.get(name).name());
    }

    private static int entryBytes(int iid, String text) {
        return CodedOutputStream.computeUInt64Size(1, iid)
                + CodedOutputStream.computeByteArraySize(2, text.getBytes(StandardCharsets.UTF_8));
    }

    private void writeEntry(int field, int iid, String text) throws IOException {
        writeMessageHead(field, entryBytes(iid, text));
        out.writeUInt64(1, iid);
        out.writeByteArray(2, text.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void instant(long atNs, int name) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void counter(long atNs, double value) {
        throw new UnsupportedOperationException();
    }
}
