package org.brickprofiler.checksum;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.brickprofiler.checksum.ChecksumComparison.Pair;
import org.brickprofiler.checksum.Divergence.Kind;
import org.brickprofiler.testing.Spec;

final class ChecksumProperties {

    /** Any bits are a float, NaNs included. */
    private static float[] floats(int[] bits) {
        float[] floats = new float[bits.length];
        IntStream.range(0, bits.length).forEach(i -> floats[i] = Float.intBitsToFloat(bits[i]));
        return floats;
    }

    @Property(tries = 300)
    void everySourceOfTheSameFloatsHasTheSameEntry(
            @ForAll @Size(max = 200) int[] bits,
            @ForAll ChecksumOptions.Scope scope,
            @ForAll @IntRange(max = 12) int samples,
            @ForAll @IntRange(max = 9) int offset) {
        float[] output = floats(bits);
        float[] larger = new float[offset + output.length + 3];
        System.arraycopy(output, 0, larger, offset, output.length);
        ChecksumLog log =
                new ChecksumLog(ChecksumOptions.DEFAULT.withScope(scope).withSamples(samples));

        log.record("a", 0, 0, output);
        log.record("a", 0, 0, larger, offset, output.length);
        log.record("a", 0, 0, FloatBuffer.wrap(larger, offset, output.length));
        for (ByteOrder order : List.of(ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN)) {
            ByteBuffer bytes = ByteBuffer.allocateDirect(offset + output.length * Float.BYTES)
                    .order(order);
            bytes.position(offset);
            for (int each : bits) {
                bytes.putInt(each);
            }
            bytes.position(offset);
            log.record("a", 0, 0, bytes);
            log.record("a", 0, 0, bytes.slice().order(order).asFloatBuffer());
        }

        assertThat(log.list()).containsOnly(log.list().get(0));
        int covered = scope == ChecksumOptions.Scope.WHOLE ? output.length : Math.min(64, output.length);
        assertThat(log.list().get(0).hash()).isEqualTo(Logs.hash(output, covered));
        assertThat(log.list().get(0).samples().size()).isEqualTo(Math.min(samples, output.length));
    }

    @Property(tries = 300)
    void anyChangedBitOfACoveredFloatChangesTheChecksum(
            @ForAll @Size(min = 64, max = 90) int[] bits,
            @ForAll @IntRange(max = 63) int index,
            @ForAll @IntRange(max = 31) int bit) {
        ChecksumLog log = new ChecksumLog();
        log.record("a", 0, 0, floats(bits));
        bits[index] ^= 1 << bit;
        log.record("a", 0, 0, floats(bits));

        assertThat(log.list().get(0).hash()).isNotEqualTo(log.list().get(1).hash());
    }

    @Property(tries = 300)
    void samplesAreDifferentFloatsFromTheFirstToTheLast(
            @ForAll @IntRange(min = 1, max = 1024) int samples, @ForAll @IntRange(min = 1) int elements) {
        int count = ChecksumOptions.DEFAULT.withSamples(samples).samplesOf(elements);
        int[] indices = IntStream.range(0, count)
                .map(i -> ChecksumOptions.sampleIndex(i, count, elements))
                .toArray();

        assertThat(indices).isSorted().doesNotHaveDuplicates();
        assertThat(indices[0]).isZero();
        assertThat(indices[count - 1]).isEqualTo(count == 1 ? 0 : elements - 1);
    }

    // ---- comparison ----

    @Provide
    Arbitrary<List<ChecksumEntry>> entries() {
        // Few names, layers and positions, so that many places repeat.
        return Combinators.combine(
                        Arbitraries.of("a", "b", "c"),
                        Arbitraries.integers().between(-1, 2),
                        Arbitraries.integers().between(0, 2),
                        Arbitraries.longs())
                .as(Logs::entry)
                .list()
                .ofMinSize(1)
                .ofMaxSize(60)
                // Combinations of edge cases alone would use up the tries.
                .withoutEdgeCases();
    }

    /** Interleaves the entries anew, as if one thread had recorded each place. */
    private static List<ChecksumEntry> otherInterleaving(List<ChecksumEntry> entries, long seed) {
        Random random = new Random(seed);
        List<List<ChecksumEntry>> threads = new ArrayList<>(entries.stream()
                .collect(Collectors.groupingBy(ChecksumProperties::place))
                .values());
        threads.sort(Comparator.comparing(thread -> place(thread.get(0))));
        threads.replaceAll(ArrayList::new);
        List<ChecksumEntry> mixed = new ArrayList<>();
        while (!threads.isEmpty()) {
            List<ChecksumEntry> next = threads.get(random.nextInt(threads.size()));
            mixed.add(next.remove(0));
            threads.removeIf(List::isEmpty);
        }
        return mixed;
    }

    private static String place(ChecksumEntry entry) {
        return entry.name() + entry.layer() + "/" + entry.position();
    }

    private static int repeat(List<ChecksumEntry> entries, int index) {
        String place = place(entries.get(index));
        return (int) entries.subList(0, index).stream()
                .filter(entry -> place(entry).equals(place))
                .count();
    }

    @Spec("10.4")
    @Property(tries = 200)
    void anotherInterleavingIsNoDivergence(@ForAll("entries") List<ChecksumEntry> entries, @ForAll long seed) {
        ChecksumLog reference = Logs.of(entries);

        ChecksumComparison comparison =
                Logs.of(otherInterleaving(entries, seed)).compareWith(reference, Tolerance.EXACT);

        assertThat(comparison.matches()).isTrue();
        assertThat(comparison.equalHashes()).isEqualTo(entries.size());
        assertThat(reference.firstDivergenceFrom(reference)).isEmpty();
    }

    @Property(tries = 200)
    void exactlyTheChangedEntryIsFound(
            @ForAll("entries") List<ChecksumEntry> entries, @ForAll long seed, @ForAll @IntRange(max = 59) int which) {
        List<ChecksumEntry> changed = new ArrayList<>(otherInterleaving(entries, seed));
        int index = which % changed.size();
        ChecksumEntry before = changed.get(index);
        ChecksumEntry after = Logs.entry(before.name(), before.layer(), before.position(), ~before.hash());
        changed.set(index, after);

        ChecksumComparison comparison = Logs.of(changed).compareWith(Logs.of(entries), Tolerance.EXACT);

        Divergence found = comparison.first().orElseThrow();
        assertThat(found.kind()).isEqualTo(Kind.DIFFERENT);
        assertThat(found.here()).contains(after);
        assertThat(found.reference()).contains(before);
        assertThat(found.repeat()).isEqualTo(repeat(changed, index));
        assertThat(comparison.diverging()).isOne();
        assertThat(comparison.before())
                .extracting(Pair::here)
                .isEqualTo(changed.subList(Math.max(0, index - ChecksumComparison.NEIGHBOURS), index));
    }

    /**
     * Removes the last entry of a place, since later entries of the place would take the repeat number of an earlier
     * one.
     */
    @Property(tries = 200)
    void exactlyTheMissingEntryIsFoundOnEitherSide(
            @ForAll("entries") List<ChecksumEntry> entries, @ForAll @IntRange(max = 59) int which) {
        String place = place(entries.get(which % entries.size()));
        int index = IntStream.range(0, entries.size())
                .filter(i -> place(entries.get(i)).equals(place))
                .max()
                .orElseThrow();
        List<ChecksumEntry> fewer = new ArrayList<>(entries);
        ChecksumEntry gone = fewer.remove(index);

        ChecksumComparison lacking = Logs.of(fewer).compareWith(Logs.of(entries), Tolerance.EXACT);
        assertThat(lacking.first()).map(Divergence::kind).contains(Kind.MISSING_HERE);
        assertThat(lacking.first().orElseThrow().reference()).contains(gone);
        assertThat(lacking.reference().only()).containsExactly(lacking.first().orElseThrow());
        assertThat(lacking.before())
                .extracting(Pair::here)
                .isEqualTo(entries.subList(Math.max(0, index - ChecksumComparison.NEIGHBOURS), index));

        ChecksumComparison exceeding = Logs.of(entries).compareWith(Logs.of(fewer), Tolerance.EXACT);
        assertThat(exceeding.first()).map(Divergence::kind).contains(Kind.MISSING_IN_REFERENCE);
        assertThat(exceeding.first().orElseThrow().here()).contains(gone);
        assertThat(exceeding.here().only()).containsExactly(exceeding.first().orElseThrow());
        assertThat(exceeding.first().orElseThrow().repeat()).isEqualTo(repeat(entries, index));
    }

    /**
     * For any two logs, each entry is compared or reported as only in its log, and the logs match only if all entries
     * are equal.
     */
    @Property(tries = 200)
    void everyEntryIsAccountedFor(
            @ForAll("entries") List<ChecksumEntry> here, @ForAll("entries") List<ChecksumEntry> reference) {
        ChecksumComparison comparison = Logs.of(here).compareWith(Logs.of(reference), Tolerance.EXACT);

        assertThat(comparison.compared() + comparison.here().only().size()).isEqualTo(here.size());
        assertThat(comparison.compared() + comparison.reference().only().size()).isEqualTo(reference.size());
        assertThat(comparison.equalHashes() + comparison.diverging()).isEqualTo(comparison.compared());
        assertThat(comparison.matches())
                .isEqualTo(comparison.equalHashes() == here.size() && here.size() == reference.size());
    }
}
