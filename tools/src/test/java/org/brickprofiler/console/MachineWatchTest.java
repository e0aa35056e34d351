package org.brickprofiler.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunFacts;
import org.brickprofiler.compare.Run;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MachineWatchTest {

    @TempDir
    Path root;

    private Path proc;

    @BeforeEach
    void makeFolders() throws IOException {
        proc = Files.createDirectories(root.resolve("proc"));
    }

    /** Writes the times of the machine and of the process. 2^64 - 1 stands for no limit of memory. */
    private void write(String machine, String own) throws IOException {
        Files.createDirectories(proc.resolve("self"));
        Files.writeString(proc.resolve("stat"), "cpu  " + machine + "\ncpu0 1 2 3\n");
        Files.writeString(
                proc.resolve("self").resolve("stat"),
                "42 (a (b) c) S 1 2 3 4 5 6 7 8 9 10 " + own + " 20 0 1 0 100 200 300 18446744073709551615\n");
    }

    @Test
    void seesStealAndOtherProcesses() throws IOException {
        // user nice system idle iowait irq softirq steal, and utime stime cutime cstime
        write("1000 0 100 5000 50 0 0 10 0 0", "10 5 100 20");
        MachineWatch watch = MachineWatch.begin(root);

        write("1500 0 150 5400 50 0 0 60 0 0", "10 5 480 70");
        // 1,000 ticks: 50 of steal, 550 busy, of which 430 are its own.
        assertThat(watch.seen(RunFacts.NONE).disturbances()).containsExactly("other processes 12 %", "steal 5 %");
    }

    @Test
    void isSilentOnAQuietMachine() throws IOException {
        write("1000 0 100 5000 50 0 0 10 0 0", "10 5 100 20");
        MachineWatch watch = MachineWatch.begin(root);

        write("1500 0 150 5450 50 0 0 10 0 0", "10 5 580 60");
        assertThat(watch.seen(RunFacts.NONE).disturbances()).isEmpty();
    }

    /**
     * A program that watches the machine by itself may run under one that watches, too. A remark without a figure
     * beside it is no remark of a watch.
     */
    @Test
    void replacesTheRemarksOfAnotherWatch() throws IOException {
        RunFacts known = RunFacts.NONE.withMachine(
                Map.of("steal_pct", 7.4, "other_processes_pct", 53.0, "celsius", 96.0),
                List.of("steal 7 %", "other processes 53 %", "96 degrees Celsius", "steal 9 %", "a pause of 3 s"));
        write("0 0 0 0 0 0 0 0 0 0", "0 0 0 0");
        MachineWatch watch = MachineWatch.begin(root);
        write("100 0 0 800 50 0 0 50 0 0", "100 0 0 0");

        RunFacts seen = watch.seen(known);
        assertThat(seen.disturbances())
                .containsExactlyInAnyOrder("steal 5 %", "96 degrees Celsius", "steal 9 %", "a pause of 3 s");
        assertThat(seen.machine()).containsEntry("steal_pct", 5.0).containsEntry("other_processes_pct", 0.0);
        assertThat(MachineWatch.begin(root.resolve("none")).seen(known)).isEqualTo(known);
    }

    @Test
    void omitsUnknownFacts() throws IOException {
        MachineWatch nothing = MachineWatch.begin(root.resolve("none"));
        assertThat(nothing.seen(RunFacts.NONE)).isEqualTo(RunFacts.NONE);

        write("a b c", "d");
        assertThat(MachineWatch.begin(root).seen(RunFacts.NONE).disturbances()).isEmpty();
    }

    @Test
    void readsTheFrequency() throws IOException {
        Files.writeString(proc.resolve("cpuinfo"), "model name\t: x\ncpu MHz\t\t: 2000.5\n\ncpu MHz\t\t: 2001.5\n");
        assertThat(MachineWatch.begin(root).seen(RunFacts.NONE).machine()).containsEntry("mhz", 2001.0);
    }

    @Test
    void readsLoadAndTemperatures() throws IOException {
        Files.writeString(proc.resolve("loadavg"), "1.25 0.80 0.40 2/300 4711\n");
        for (String file : List.of(
                "thermal/thermal_zone0/temp 41000",
                "thermal/thermal_zone1/temp odd",
                "hwmon/hwmon3/temp2_input 96500",
                "hwmon/hwmon3/fan1_input 1200000",
                "thermal/thermal_zone2/temp -5000")) {
            Path path = root.resolve("sys/class").resolve(file.split(" ", 2)[0]);
            Files.createDirectories(path.getParent());
            Files.writeString(path, file.split(" ", 2)[1] + "\n");
        }
        RunFacts seen = MachineWatch.begin(root).seen(RunFacts.NONE);
        assertThat(seen.machine()).containsExactly(entry("celsius", 96.5), entry("load_1min", 1.25));
        assertThat(seen.disturbances()).containsExactly("97 degrees Celsius");
    }

    @Test
    void marksRunsOnSlowerProcessors() {
        List<Run> before = List.of(at(2_000), at(3_000));
        List<Run> after = List.of(at(2_900), at(0));
        assertThat(MachineWatch.marked(before, after))
                .extracting(Run::disturbances)
                .containsExactly(List.of("2000 MHz"), List.of());
        assertThat(MachineWatch.marked(after, before))
                .extracting(Run::disturbances)
                .containsExactly(List.of(), List.of());
    }

    private static Run at(double megahertz) {
        Map<String, Double> machine = megahertz == 0 ? Map.of() : Map.of("mhz", megahertz);
        return Run.of(
                "a run",
                ProfileSnapshot.builder(Instant.EPOCH, Instant.EPOCH, 0)
                        .build()
                        .withFacts(RunFacts.NONE.withMachine(machine, List.of())));
    }
}
