package org.brickprofiler.trace.read;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;

/** Writes XSpaces of XLA's profiler field by field, by the library of Protocol Buffers. */
final class XSpaces {

    private XSpaces() {}

    /** A message; fields in the order in which they are added. */
    static final class Message {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        private interface Writing {
            void write(CodedOutputStream out) throws IOException;
        }

        private Message write(Writing writing) {
            try {
                CodedOutputStream out = CodedOutputStream.newInstance(bytes);
                writing.write(out);
                out.flush();
                return this;
            } catch (IOException impossible) {
                throw new UncheckedIOException(impossible);
            }
        }

        Message number(int field, long value) {
            return write(out -> out.writeInt64(field, value));
        }

        Message text(int field, String value) {
            return write(out -> out.writeString(field, value));
        }

        Message message(int field, Message value) {
            return write(out -> out.writeBytes(field, ByteString.copyFrom(value.toBytes())));
        }

        byte[] toBytes() {
            return bytes.toByteArray();
        }
    }

    /** A plane. */
    static final class Plane {
        private final Message lines = new Message();
        private final String name;
        private final Map<String, Integer> names = new LinkedHashMap<>();
        private final Map<String, Integer> stats = new LinkedHashMap<>();
        private final Message programs = new Message();

        Plane(String name) {
            this.name = name;
        }

        /** Adds a line; its events are those of {@link #event}. */
        Plane line(String line, long startNs, Message... events) {
            Message made = new Message().number(1, 7).text(2, line).number(3, startNs);
            for (Message event : events) {
                made.message(4, event);
            }
            lines.message(3, made);
            return this;
        }

        /** Makes an event; stats are name, value, next name. */
        Message event(String event, long offsetPs, long durationPs, String... keysAndTexts) {
            Message made = new Message()
                    .number(1, names.computeIfAbsent(event, added -> names.size() + 1))
                    .number(2, offsetPs)
                    .number(3, durationPs);
            for (int i = 0; i < keysAndTexts.length; i += 2) {
                int key = number(keysAndTexts[i]);
                made.message(4, new Message().number(1, key).number(7, number(keysAndTexts[i + 1])));
            }
            return made;
        }

        private int number(String text) {
            return stats.computeIfAbsent(text, added -> stats.size() + 1);
        }

        /** Adds a compiled program, as the plane of metadata has it. */
        Plane program(String program, Message hloModule) {
            Message stat = new Message().number(1, number("Hlo Proto")).message(6, new Message().message(1, hloModule));
            Message metadata = new Message().number(1, 1).text(2, program).message(5, stat);
            programs.message(4, new Message().number(1, 1).message(2, metadata));
            return this;
        }

        Message toMessage() {
            Message plane = new Message().text(2, name);
            plane.bytes.writeBytes(lines.toBytes());
            plane.bytes.writeBytes(programs.toBytes());
            names.forEach((event, number) -> plane.message(
                    4,
                    new Message()
                            .number(1, number)
                            .message(2, new Message().number(1, number).text(2, event))));
            stats.forEach((stat, number) -> plane.message(
                    5,
                    new Message()
                            .number(1, number)
                            .message(2, new Message().number(1, number).text(2, stat))));
            return plane;
        }
    }

    /** Makes a computation of a program. */
    static Message computation(long id, Message... instructions) {
        Message made = new Message().text(1, "computation " + id);
        for (Message instruction : instructions) {
            made.message(2, instruction);
        }
        return made.number(5, id);
    }

    /** Makes an instruction. */
    static Message instruction(String name, String opcode, String scope, long... called) {
        Message made = new Message().text(1, name).text(2, opcode).message(7, new Message().text(2, scope));
        for (long id : called) {
            made.number(38, id);
        }
        return made;
    }

    static byte[] space(Plane... planes) {
        Message space = new Message();
        for (Plane plane : planes) {
            space.message(1, plane.toMessage());
        }
        return space.text(4, "host").toBytes();
    }
}
