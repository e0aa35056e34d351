package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MachineWatchTest {

    @TempDir
    Path proc;

    private void write(String machine, String own) throws IOException {
        Files.createDirectories(proc.resolve("self"));
        Files.writeString(proc.resolve("stat"), "cpu  " + machine + "\ncpu0 1 2 3\n");
        Files.writeString(
                proc.resolve("self").resolve("stat"),
                "42 (a (b) c) S 1 2 3 4 5 6 7 8 9 10 " + own + " 20 0 1 0 100 200\n");
    }

    @Test
    void seesStealAndOtherProcesses() throws IOException {
        // user nice system idle iowait irq softirq steal, and utime stime cutime cstime
        write("1000 0 100 5000 50 0 0 10 0 0", "10 5 100 20");
        MachineWatch watch = MachineWatch.begin(proc);

        write("1500 0 150 5400 50 0 0 60 0 0", "10 5 480 70");
        // 1,000 ticks: 50 of steal, 550 busy, of which 430 are its own.
        assertThat(watch.disturbances()).containsExactly("steal 5 %", "other processes 12 %");
    }

    @Test
    void isSilentOnAQuietMachine() throws IOException {
        write("1000 0 100 5000 50 0 0 10 0 0", "10 5 100 20");
        MachineWatch watch = MachineWatch.begin(proc);

        write("1500 0 150 5450 50 0 0 10 0 0", "10 5 580 60");
        assertThat(watch.disturbances()).isEmpty();
    }

    @Test
    void saysNothingOfWhatItDoesNotKnow() throws IOException {
        MachineWatch nothing = MachineWatch.begin(proc.resolve("none"));
        assertThat(nothing.disturbances()).isEmpty();
        assertThat(nothing.megahertz()).isEmpty();

        write("a b c", "d");
        assertThat(MachineWatch.begin(proc).disturbances()).isEmpty();
    }

    @Test
    void readsTheFrequency() throws IOException {
        Files.writeString(proc.resolve("cpuinfo"), "model name\t: x\ncpu MHz\t\t: 2000.5\n\ncpu MHz\t\t: 2001.5\n");
        assertThat(MachineWatch.begin(proc).megahertz()).hasValue(2001);
    }
}
