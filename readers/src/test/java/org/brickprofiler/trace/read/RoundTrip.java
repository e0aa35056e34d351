package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.write.ChromeWriter;
import org.brickprofiler.trace.write.PerfettoWriter;

/** Timelines written and read back. */
final class RoundTrip {

    private RoundTrip() {}

    /** The data of a brick in a timeline. */
    record Brick(
            String name,
            BrickCategory category,
            long count,
            long totalNs,
            long minNs,
            long maxNs,
            long lastNs,
            long elements) {

        private static Brick of(BrickStats stats) {
            return new Brick(
                    stats.name(),
                    stats.category(),
                    stats.count(),
                    stats.totalNs(),
                    stats.minNs(),
                    stats.maxNs(),
                    stats.lastNs(),
                    stats.totalElements());
        }
    }

    /** A format. */
    enum Format {
        PERFETTO {
            @Override
            byte[] written(Timeline timeline) throws IOException {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                PerfettoWriter.write(timeline, out);
                return out.toByteArray();
            }
        },
        CHROME {
            @Override
            byte[] written(Timeline timeline) throws IOException {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                ChromeWriter.write(timeline, out);
                return out.toByteArray();
            }
        };

        abstract byte[] written(Timeline timeline) throws IOException;

        TraceProfile read(Timeline timeline) throws IOException {
            return read(timeline, ReadOptions.defaults());
        }

        TraceProfile read(Timeline timeline, ReadOptions options) throws IOException {
            TraceProfile reading = Traces.read(written(timeline), options);
            assertThat(reading.counting()).isEqualTo(TraceProfile.Counting.BRICKS);
            return reading;
        }
    }

    static List<Brick> bricks(ProfileSnapshot snapshot) {
        return bricks(snapshot.bricks());
    }

    static List<Brick> bricks(List<BrickStats> stats) {
        return stats.stream().map(Brick::of).toList();
    }

    /** The bricks of each phase. */
    static Map<StepInfo.Phase, List<Brick>> phases(ProfileSnapshot snapshot) {
        Map<StepInfo.Phase, List<Brick>> phases = new EnumMap<>(StepInfo.Phase.class);
        snapshot.phases().forEach((phase, bricks) -> phases.put(phase, bricks(bricks)));
        return phases;
    }

    /** Asserts that a timeline has a profile's bricks and phases in each format, and after each conversion. */
    static void assertSame(Timeline timeline, ProfileSnapshot expected) throws IOException {
        for (Format format : Format.values()) {
            assertSame(format.toString(), format.read(timeline).snapshot(), expected);
            try (TraceTimeline read =
                    TraceReader.timeline(new ByteArrayInputStream(format.written(timeline)), ReadOptions.defaults())) {
                for (Format other : Format.values()) {
                    ProfileSnapshot converted = other.read(read.timeline()).snapshot();
                    assertSame(format + " converted to " + other, converted, expected);
                }
            }
        }
    }

    private static void assertSame(String where, ProfileSnapshot read, ProfileSnapshot expected) {
        assertThat(bricks(read)).as("read from %s", where).isEqualTo(bricks(expected));
        assertThat(phases(read)).as("phases read from %s", where).isEqualTo(phases(expected));
    }
}
