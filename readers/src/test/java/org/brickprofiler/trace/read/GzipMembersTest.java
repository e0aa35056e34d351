package org.brickprofiler.trace.read;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.ZipException;
import org.brickprofiler.trace.read.Omission.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** No byte of a packed file is skipped: neither a further member nor other bytes. */
final class GzipMembersTest {

    private static byte[] join(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    private static String unpacked(byte[] packed, int bufferBytes) throws IOException {
        try (GzipMembers members = new GzipMembers(new ByteArrayInputStream(packed), bufferBytes)) {
            return new String(members.readAllBytes(), UTF_8);
        }
    }

    /** A member with every optional field in its header. */
    private static byte[] withFullHeader(String text) {
        byte[] plain = Traces.packed(text);
        byte[] header = {0x1f, (byte) 0x8b, 8, 0x1f, 1, 2, 3, 4, 0, 3, 3, 0, 7, 8, 9, 'n', 0, 'c', 'o', 0, 5, 6};
        return join(header, Arrays.copyOfRange(plain, 10, plain.length));
    }

    @Test
    void everyMemberIsReadWhereverItBegins() throws IOException {
        byte[] packed = join(Traces.packed("one "), Traces.packed(""), withFullHeader("two "), Traces.packed("three"));

        for (int bufferBytes = 1; bufferBytes < packed.length + 2; bufferBytes++) {
            assertThat(unpacked(packed, bufferBytes))
                    .as("%s bytes at a time", bufferBytes)
                    .isEqualTo("one two three");
        }
    }

    @Test
    void zerosMayFollow() throws IOException {
        assertThat(unpacked(join(Traces.packed("one"), new byte[1_000]), 64)).isEqualTo("one");
        assertThat(unpacked(join(Traces.packed("one"), new byte[9], Traces.packed("two")), 64))
                .isEqualTo("onetwo");
    }

    @Test
    void nothingElseMayFollow() {
        for (String more : new String[] {"x", "[{\"ph\": \"X\"}]", "\u001f", "\u001fx", "\u0000\u0000more"}) {
            byte[] packed = join(Traces.packed("one"), more.getBytes(UTF_8));
            for (int bufferBytes : new int[] {1, 7, 64}) {
                assertThatThrownBy(() -> unpacked(packed, bufferBytes)).as(more).isInstanceOf(IOException.class);
            }
        }
        assertThatExceptionOfType(ZipException.class)
                .isThrownBy(() -> unpacked(join(Traces.packed("one"), new byte[] {'x'}), 64))
                .withMessage(GzipMembers.TRAILING);
    }

    @Test
    void damageIsNamed() {
        byte[] packed = withFullHeader("some text, and some text again");
        for (int length = 0; length < packed.length; length++) {
            byte[] cut = Arrays.copyOf(packed, length);
            assertThatExceptionOfType(EOFException.class).as("%s bytes", length).isThrownBy(() -> unpacked(cut, 16));
        }
        for (int at : new int[] {0, 1, 2, packed.length - 8, packed.length - 1}) {
            byte[] damaged = packed.clone();
            damaged[at] ^= 0x40;
            assertThatExceptionOfType(ZipException.class).as("byte %s", at).isThrownBy(() -> unpacked(damaged, 16));
        }
    }

    /** The file is so large that a separate thread unpacks it, and its members end anywhere in the buffers. */
    @Test
    void aFileOfManyMembersIsReadWhole(@TempDir Path folder) throws IOException {
        Random random = new Random(5);
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        packed.writeBytes(Traces.packed("["));
        int slices = 6_000;
        for (int i = 0; i < slices; i++) {
            byte[] noise = new byte[random.nextInt(40)];
            random.nextBytes(noise);
            String name = "kernel " + Arrays.hashCode(noise) + "-".repeat(noise.length);
            packed.writeBytes(Traces.packed((i == 0 ? "" : ",") + Traces.slice(name, 10L * i, 5)));
        }
        packed.writeBytes(Traces.packed("]"));
        Path file = Files.write(folder.resolve("t.json.gz"), packed.toByteArray());

        assertThat(Traces.read(file, ReadOptions.defaults().withKeepWarmup(true))
                        .eventsCounted())
                .isEqualTo(slices);
    }

    @Test
    void bytesBehindAPackedTraceAreReported() throws IOException {
        byte[] packed = join(Traces.packed(Traces.array(Traces.slice("a", 0, 5))), "more".getBytes(UTF_8));

        TraceFormatException refused = Traces.refused(() -> Traces.read(packed, ReadOptions.defaults()));
        assertThat(refused.fault()).isEqualTo("the packed file is damaged: " + GzipMembers.TRAILING);
        assertThat(refused.isDamage()).isTrue();
        TraceProfile salvaged = Traces.read(packed, ReadOptions.defaults().withSalvage(true));
        assertThat(Traces.totalNs(salvaged, "a")).isEqualTo(5_000);
        assertThat(Traces.repair(salvaged, Reason.DAMAGE).name()).contains(GzipMembers.TRAILING);
    }
}
