package org.brickprofiler.roofline;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.ToLongFunction;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.Work;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.roofline.BrickRoofline.Distance;
import org.brickprofiler.testing.Spec;

/** Compares the roofline of a brick whose work is known in some phases with a count over the recorded samples. */
final class BrickRooflineProperties {

    /** Samples outside of steps, and in steps of two phases. */
    private static final int PHASES = 3;

    /** Samples of one profile in one phase. */
    private record Part(int phase, long count, long totalNs, long bytes) {}

    @Spec("18.7")
    @Property(tries = 300)
    void theSamplesOfPhasesWithWorkCount(@ForAll long seed) throws IOException {
        Random random = new Random(seed);
        List<Part> parts = new ArrayList<>();
        ProfileSnapshot merged = profile(random, parts);
        for (int further = random.nextInt(3); further > 0; further--) {
            merged = merged.merge(profile(random, parts));
        }
        ProfileSnapshot read = JsonReport.fromJson(JsonReport.toJson(merged));

        List<Distance> placed =
                BrickRoofline.of(read, BrickRooflineTest.MACHINE, 1).bricks();
        List<Part> counted = new ArrayList<>();
        for (int phase = 0; phase < PHASES; phase++) {
            int number = phase;
            List<Part> ofPhase =
                    parts.stream().filter(part -> part.phase == number).toList();
            if (ofPhase.stream().anyMatch(part -> part.bytes > 0)) {
                counted.addAll(ofPhase);
            }
        }
        long known = sum(counted, part -> part.bytes > 0 ? part.count : 0);
        if (known == 0 || known < 0.9 * sum(counted, Part::count)) {
            assertThat(placed).isEmpty();
        } else {
            assertThat(placed).extracting(Distance::totalNs).containsExactly(sum(counted, Part::totalNs));
            assertThat(placed.get(0).work().bytes()).isEqualTo(sum(counted, Part::bytes));
        }
    }

    private static ProfileSnapshot profile(Random random, List<Part> parts) {
        BrickProfiler profiler = BrickProfiler.builder().percentiles(true).build();
        profiler.enable();
        boolean inSteps = random.nextBoolean();
        for (int phase = 0; phase < PHASES; phase++) {
            long count = phase > 0 && !inSteps ? 0 : random.nextInt(12);
            // In a profile with steps, work that was recorded outside of them might belong to any samples.
            boolean hasWork = random.nextBoolean() && (phase > 0 || !inSteps);
            long totalNs = 0;
            for (int i = 0; i < count; i++) {
                if (phase > 0) {
                    profiler.beginStep(phase == 1 ? StepInfo.prefill(8) : StepInfo.decode(8));
                }
                long ns = 1_000L + random.nextInt(100);
                profiler.record(BrickId.LM_HEAD, ns, 1);
                if (hasWork) {
                    profiler.recordWork(BrickId.LM_HEAD, Work.of(0, 8));
                }
                profiler.endPass();
                totalNs += ns;
            }
            parts.add(new Part(phase, count, totalNs, hasWork ? 8 * count : 0));
        }
        return profiler.snapshot();
    }

    private static long sum(List<Part> parts, ToLongFunction<Part> value) {
        return parts.stream().mapToLong(value).sum();
    }
}
