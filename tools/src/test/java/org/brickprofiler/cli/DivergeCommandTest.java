package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.brickprofiler.checksum.ChecksumLog;
import org.brickprofiler.checksum.ChecksumOptions;
import org.brickprofiler.report.ChecksumFile;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DivergeCommandTest {

    @TempDir
    Path folder;

    private Path reference;

    @BeforeEach
    void reference() throws IOException {
        reference = log("reference.jsonl", 1.0f, 2.0f);
    }

    /** Layer 0 is the same in all logs; in layer 1 the outputs of the norm and of the product may differ. */
    private Path log(String name, float norm, float product) throws IOException {
        ChecksumLog log = new ChecksumLog(ChecksumOptions.DEFAULT.withSamples(4));
        for (int layer = 0; layer < 2; layer++) {
            log.record("RmsNorm", layer, 7, new float[] {1, 2, layer == 0 ? 1 : norm});
            log.record("QkvProjection", layer, 7, new float[] {3, layer == 0 ? 2 : product});
        }
        Path file = folder.resolve(name);
        ChecksumFile.write(log, file);
        return file;
    }

    @Test
    void agreesWithAnEqualLog() throws IOException {
        Cli diverge = Cli.run("diverge", log("same.jsonl", 1, 2), reference);

        assertThat(diverge.exitCode()).isZero();
        assertThat(diverge.err()).isEmpty();
        assertThat(diverge.out())
                .startsWith("NO DIVERGENCE: 4 entries with equal checksums\n")
                .contains("exact");
    }

    @Spec("15.2")
    @Test
    void namesTheFirstBrickThatDiffersAndNoLaterOne() throws IOException {
        Cli diverge = Cli.run("diverge", log("other.jsonl", 1.5f, 2.5f), reference);

        assertThat(diverge.exitCode()).isEqualTo(1);
        assertThat(diverge.err()).isEmpty();
        assertThat(diverge.out().lines().findFirst().orElseThrow())
                .contains("RmsNorm", "layer 1", "pos 7")
                .doesNotContain("QkvProjection");
    }

    @Test
    void obeysTheTolerance() throws IOException {
        Path near = log("near.jsonl", 1.0005f, 2.001f);

        assertThat(Cli.run("diverge", near, reference).exitCode()).isEqualTo(1);
        assertThat(Cli.run("diverge", near, reference, "--tolerance", "exact").exitCode())
                .isEqualTo(1);
        assertThat(Cli.run("diverge", near, reference, "--tolerance", "float32").exitCode())
                .isEqualTo(1);
        Cli half = Cli.run("diverge", near, reference, "--tolerance", "float16");
        assertThat(half.exitCode()).isZero();
        assertThat(half.out())
                .startsWith("NO DIVERGENCE: 4 entries within the tolerance\n")
                .contains("float16: ");
        assertThat(Cli.run("diverge", near, reference, "--tolerance", "BFLOAT16")
                        .out())
                .contains("bfloat16: ");
        assertThat(Cli.run("diverge", near, reference, "--abs", "0.002").exitCode())
                .isZero();
        assertThat(Cli.run("diverge", near, reference, "--rel", "0.001").exitCode())
                .isZero();
        assertThat(Cli.run("diverge", near, reference, "--rel", "0.0001").exitCode())
                .isEqualTo(1);
        assertThat(Cli.run("diverge", near, reference, "--abs", "1e-4", "--rel", "1e-3")
                        .out())
                .contains("custom: ");
    }

    @Test
    void saysWhichLogIsTheReference() throws IOException {
        ChecksumLog shorter = new ChecksumLog(ChecksumOptions.DEFAULT.withSamples(4));
        shorter.record("RmsNorm", 0, 7, new float[] {1, 2, 1});
        Path part = folder.resolve("part.jsonl");
        ChecksumFile.write(shorter, part);

        assertThat(Cli.run("diverge", part, reference).out()).contains("only reference  3 entries");
        assertThat(Cli.run("diverge", reference, part).out()).contains("only here       3 entries");
    }

    @Test
    void findsNothingInEmptyLogs() throws IOException {
        Path empty = folder.resolve("empty.jsonl");
        ChecksumFile.write(new ChecksumLog(ChecksumOptions.DEFAULT), empty);

        Cli diverge = Cli.run("diverge", empty, empty);
        assertThat(diverge.exitCode()).isEqualTo(1);
        assertThat(diverge.out()).startsWith("NOTHING COMPARED");
    }

    @Test
    void namesTheFaultOfALog() throws IOException {
        Path cut = Files.writeString(
                folder.resolve("cut.jsonl"), Files.readString(reference).substring(0, 300));

        Cli.run("diverge", folder.resolve("none"), reference).assertRefused("cannot read ", "none: it does not exist");
        Cli.run("diverge", reference, folder).assertRefused("it is a folder");
        Cli.run("diverge", reference, cut).assertRefused(cut.toString());
        Cli.run("diverge", Cli.REPORTS.resolve("full.json"), reference).assertRefused("full.json");
    }
}
