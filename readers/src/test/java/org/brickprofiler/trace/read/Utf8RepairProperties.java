package org.brickprofiler.trace.read;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.Arrays;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Bytes that the JDK's own decoder accepts as UTF-8 are unchanged, and all other bytes become question marks. */
final class Utf8RepairProperties {

    /** Arrays of bytes at the ends of the ranges of bytes that begin and continue sequences. */
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

        byte[] expected = expected(bytes);
        assertThat(repaired).isEqualTo(expected);
        assertThat(isUtf8(repaired, 0, bytes.length)).isTrue();
        assertThat(repair.replaced())
                .isEqualTo(IntStream.range(0, bytes.length)
                        .filter(at -> expected[at] != bytes[at])
                        .count());
        assertThat(repair.replaced() == 0).isEqualTo(isUtf8(bytes, 0, bytes.length));
        assertThat(repair.firstOffset()).isEqualTo(Math.max(0, Arrays.mismatch(bytes, expected)));
    }

    /** Returns the bytes, with a question mark for each one that is in no sequence that the decoder accepts. */
    private static byte[] expected(byte[] bytes) {
        byte[] expected = bytes.clone();
        int at = 0;
        while (at < bytes.length) {
            int length = sequenceAt(bytes, at);
            if (length == 0) {
                expected[at] = '?';
            }
            at += Math.max(1, length);
        }
        return expected;
    }

    /** Returns the length of the sequence at an index that the decoder accepts; 0 if there is none. */
    private static int sequenceAt(byte[] bytes, int at) {
        return IntStream.rangeClosed(1, Math.min(4, bytes.length - at))
                .filter(length -> isUtf8(bytes, at, length))
                .findFirst()
                .orElse(0);
    }

    private static boolean isUtf8(byte[] bytes, int from, int length) {
        try {
            UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, from, length));
            return true;
        } catch (CharacterCodingException malformed) {
            return false;
        }
    }
}
