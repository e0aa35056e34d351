package org.brickprofiler.trace.read;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Bytes that the JDK's own decoder accepts as UTF-8 are unchanged, and all other bytes become question marks. */
final class Utf8RepairProperties {

    /** The bytes that begin and continue sequences, and the ends of their ranges, more often than others. */
    @Provide
    Arbitrary<byte[]> bytes() {
        Arbitrary<Byte> edges = Arbitraries.of(
                        0x61, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xf0, 0xf4,
                        0xf5, 0xff)
                .map(edge -> (byte) (int) edge);
        return edges.array(byte[].class).ofMaxSize(12);
    }

    @Property
    void leavesUtf8AndRepairsTheRest(@ForAll("bytes") byte[] bytes) throws IOException {
        Utf8Repair repair = new Utf8Repair(new ByteArrayInputStream(bytes));
        byte[] repaired = repair.readAllBytes();

        assertThat(repaired).hasSameSizeAs(bytes);
        assertThat(isUtf8(repaired, bytes.length)).isTrue();
        assertThat(repair.replaced() == 0).isEqualTo(isUtf8(bytes, bytes.length));
        if (repair.replaced() > 0) {
            int first = (int) repair.firstOffset();
            assertThat(isUtf8(bytes, first)).isTrue();
            assertThat(repaired[first]).isEqualTo((byte) '?');
        } else {
            assertThat(repaired).isEqualTo(bytes);
        }
    }

    private static boolean isUtf8(byte[] bytes, int length) {
        try {
            UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, 0, length));
            return true;
        } catch (CharacterCodingException malformed) {
            return false;
        }
    }
}
