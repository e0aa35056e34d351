package org.brickprofiler.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/**
 * Makes a large trace from a small one, to measure the speed of reading traces: it repeats the events, each copy later
 * than the one before and with new numbers for connections between events.
 */
final class ReplicatedTrace {

    private static final String EVENTS = "\"traceEvents\": [";
    private static final String END_OF_EVENT = "\n  }";
    private static final long APART_US = 10_000_000;
    private static final Pattern NUMBER = Pattern.compile("\"(?:ts|correlation|External id|id)\": (\\d{1,17})");

    private ReplicatedTrace() {}

    /**
     * Writes a replicated trace.
     *
     * @param arguments a trace of Kineto, compressed with gzip; the least number of bytes of text to write; the file,
     *     compressed too if its name ends with {@code .gz}
     * @throws IOException when a file cannot be read or written
     */
    public static void main(String[] arguments) throws IOException {
        String text;
        try (InputStream trace = new GZIPInputStream(Files.newInputStream(Path.of(arguments[0])))) {
            text = new String(trace.readAllBytes(), UTF_8);
        }
        long wantedBytes = Long.parseLong(arguments[1]);
        int begin = text.indexOf(EVENTS) + EVENTS.length();
        String head = text.substring(0, begin);
        String events = text.substring(begin, text.lastIndexOf(']'));
        Path file = Path.of(arguments[2]);
        try (OutputStream out = Files.newOutputStream(file);
                Writer written = new BufferedWriter(new OutputStreamWriter(
                        file.toString().endsWith(".gz") ? new GZIPOutputStream(out, 1 << 16) : out, UTF_8))) {
            written.write(head);
            long left = wantedBytes;
            for (long copy = 0; left > 0; copy++) {
                int last = left < events.length() ? events.indexOf(END_OF_EVENT, (int) left) : -1;
                int end = last < 0 ? events.length() : last + END_OF_EVENT.length();
                written.write(copy == 0 ? "" : ",");
                long later = copy * APART_US;
                Matcher number = NUMBER.matcher(events).region(0, end);
                int copied = 0;
                while (number.find()) {
                    written.append(events, copied, number.start(1));
                    written.write(Long.toString(Long.parseLong(number.group(1)) + later));
                    copied = number.end(1);
                }
                written.append(events, copied, end);
                left -= end;
            }
            written.write("]\n}\n");
        }
    }
}
