package org.brickprofiler.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.brickprofiler.checksum.ChecksumEntry;
import org.brickprofiler.checksum.ChecksumLog;
import org.brickprofiler.checksum.ChecksumOptions;
import org.brickprofiler.checksum.Tolerance;
import org.brickprofiler.testing.Spec;

final class ChecksumFileProperties {

    @Provide
    Arbitrary<ChecksumLog> logs() {
        return Arbitraries.integers().between(0, 5).flatMap(samples -> Combinators.combine(
                        Arbitraries.of(ChecksumOptions.Scope.class),
                        entries(samples).list().ofMaxSize(20),
                        Arbitraries.longs().greaterOrEqual(0))
                .as((scope, entries, dropped) ->
                        ChecksumLog.of(ChecksumOptions.DEFAULT.withScope(scope).withSamples(samples), entries, dropped))
                .withoutEdgeCases());
    }

    private static Arbitrary<ChecksumEntry> entries(int samples) {
        return Combinators.combine(
                        Arbitraries.strings().all().ofMinLength(1).ofMaxLength(30),
                        Arbitraries.integers().greaterOrEqual(-1),
                        Arbitraries.integers().greaterOrEqual(0),
                        Arbitraries.longs(),
                        Arbitraries.integers().between(10, Integer.MAX_VALUE),
                        Arbitraries.integers().between(0, 5).list().ofSize(2),
                        Arbitraries.longs().greaterOrEqual(0).optional(),
                        Arbitraries.integers().list().ofSize(samples))
                .as((name, layer, position, hash, elements, nonFinite, elapsedNs, bits) -> {
                    return ChecksumEntry.builder(name, layer, position)
                            .hash(hash)
                            .floats(elements, nonFinite.get(0), nonFinite.get(1))
                            .elapsedNs(elapsedNs.map(OptionalLong::of).orElseGet(OptionalLong::empty))
                            .samples(bits.stream().map(Float::intBitsToFloat).toList())
                            .build();
                });
    }

    @Spec("10.7")
    @Property(tries = 150)
    void writtenLogsAreReadBackExactly(@ForAll("logs") ChecksumLog log) throws IOException {
        Path file = Files.createTempFile("checksums", ".jsonl");
        try {
            ChecksumFile.write(log, file);
            ChecksumLog read = ChecksumFile.read(file);

            assertThat(read.list()).isEqualTo(log.list());
            assertThat(read.options()).isEqualTo(log.options());
            assertThat(read.droppedCount()).isEqualTo(log.droppedCount());
            assertThat(read.firstDivergenceFrom(log)).isEmpty();
            assertThat(read.compareWith(log, Tolerance.of(0, 0)).matches()).isTrue();
        } finally {
            Files.delete(file);
        }
    }
}
