package org.brickprofiler.checksum;

import java.util.AbstractList;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.RandomAccess;

/**
 * The entries of a log, in columns of plain values that grow by chunks; allocates only for a new chunk and a new name.
 * The owner's lock guards it. A {@linkplain #commit committed} row never changes, except for its time, which may become
 * known later. A list that {@link #list} returned never changes and needs no lock.
 */
final class ChecksumColumns {

    /** The number of rows in a chunk. */
    static final int CHUNK_ROWS = 1 << 10;

    /** The elapsed time if it is unknown. */
    static final long UNKNOWN_NS = -1;

    private final int samplesPerRow;
    /** A map of the JDK: every profiler creates a log, and creating a log should not load another library. */
    private final Map<String, String> names = new HashMap<>();

    private final List<Chunk> chunks = new ArrayList<>();
    private int size;

    ChecksumColumns(int samplesPerRow) {
        this.samplesPerRow = samplesPerRow;
    }

    /** The columns of {@link #CHUNK_ROWS} rows. */
    private static final class Chunk {
        private final String[] names = new String[CHUNK_ROWS];
        private final int[] layers = new int[CHUNK_ROWS];
        private final int[] positions = new int[CHUNK_ROWS];
        private final long[] hashes = new long[CHUNK_ROWS];
        private final int[] elements = new int[CHUNK_ROWS];
        private final int[] nans = new int[CHUNK_ROWS];
        private final int[] infinities = new int[CHUNK_ROWS];
        private final float[] samples;

        /** Replaced by a copy if a time becomes known after a list was taken. */
        private long[] elapsedNs = new long[CHUNK_ROWS];

        private boolean listed;

        Chunk(int samplesPerRow) {
            samples = new float[CHUNK_ROWS * samplesPerRow];
        }
    }

    /** Returns the number of committed rows. */
    int size() {
        return size;
    }

    /** Writes the place and the time, ns, of the next entry. Equal names share one string. */
    void place(String name, int layer, int position, long elapsedNs) {
        if (size == chunks.size() * CHUNK_ROWS) {
            chunks.add(new Chunk(samplesPerRow));
        }
        Chunk chunk = chunk();
        int row = size % CHUNK_ROWS;
        chunk.names[row] = first(name);
        chunk.layers[row] = layer;
        chunk.positions[row] = position;
        chunk.elapsedNs[row] = elapsedNs;
    }

    private String first(String name) {
        String known = names.get(name);
        if (known == null) {
            names.put(name, name);
            return name;
        }
        return known;
    }

    /** Writes the content of the next entry, after its place. */
    void content(long hash, int elements, int nans, int infinities) {
        Chunk chunk = chunk();
        int row = size % CHUNK_ROWS;
        chunk.hashes[row] = hash;
        chunk.elements[row] = elements;
        chunk.nans[row] = nans;
        chunk.infinities[row] = infinities;
    }

    /** Writes a sample of the next entry, after its place. */
    void sample(int sample, float value) {
        chunk().samples[size % CHUNK_ROWS * samplesPerRow + sample] = value;
    }

    /** Makes the written row an entry. */
    void commit() {
        size++;
    }

    /** Returns the time of an entry, ns; negative if it is unknown. */
    long elapsedNs(int row) {
        return chunks.get(row / CHUNK_ROWS).elapsedNs[row % CHUNK_ROWS];
    }

    /** Sets the time of an entry's brick, ns. Lists that were taken before do not change. */
    void setElapsed(int row, long elapsedNs) {
        Chunk chunk = chunks.get(row / CHUNK_ROWS);
        if (chunk.elapsedNs[row % CHUNK_ROWS] != elapsedNs) {
            chunk.elapsedNs = chunk.listed ? chunk.elapsedNs.clone() : chunk.elapsedNs;
            chunk.listed = false;
            chunk.elapsedNs[row % CHUNK_ROWS] = elapsedNs;
        }
    }

    private Chunk chunk() {
        return chunks.get(size / CHUNK_ROWS);
    }

    /** Returns an immutable list of the entries so far. Each access creates an entry. */
    List<ChecksumEntry> list() {
        chunks.forEach(chunk -> chunk.listed = true);
        long[][] elapsedNs = chunks.stream().map(chunk -> chunk.elapsedNs).toArray(long[][]::new);
        return new Entries(chunks.toArray(Chunk[]::new), elapsedNs, size, samplesPerRow);
    }

    /** The first rows of some chunks. */
    private static final class Entries extends AbstractList<ChecksumEntry> implements RandomAccess {
        private final Chunk[] chunks;
        private final long[][] elapsed;
        private final int size;
        private final int samplesPerRow;

        Entries(Chunk[] chunks, long[][] elapsed, int size, int samplesPerRow) {
            this.chunks = chunks;
            this.elapsed = elapsed;
            this.size = size;
            this.samplesPerRow = samplesPerRow;
        }

        @Override
        public int size() {
            return size;
        }

        @Override
        public ChecksumEntry get(int index) {
            Objects.checkIndex(index, size);
            Chunk chunk = chunks[index / CHUNK_ROWS];
            int row = index % CHUNK_ROWS;
            long elapsedNs = elapsed[index / CHUNK_ROWS][row];
            return ChecksumEntry.builder(chunk.names[row], chunk.layers[row], chunk.positions[row])
                    .hash(chunk.hashes[row])
                    .floats(chunk.elements[row], chunk.nans[row], chunk.infinities[row])
                    .elapsedNs(elapsedNs < 0 ? OptionalLong.empty() : OptionalLong.of(elapsedNs))
                    .samples(samples(chunk, row))
                    .build();
        }

        private List<Float> samples(Chunk chunk, int row) {
            int count = Math.min(samplesPerRow, chunk.elements[row]);
            List<Float> values = new ArrayList<>(count);
            for (int i = 0; i < count; i++) {
                values.add(chunk.samples[row * samplesPerRow + i]);
            }
            return values;
        }
    }
}
