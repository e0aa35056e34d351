package org.brickprofiler.checksum;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class Fnv1aTest {

    /** Vectors that the authors of the function publish, and RFC 9923 too. */
    @ParameterizedTest
    @CsvSource({
        "'', cbf29ce484222325",
        "a, af63dc4c8601ec8c",
        "b, af63df4c8601f1a5",
        "foo, dcb27518fed9d577",
        "foobar, 85944171f73967e8"
    })
    void hashesThePublishedVectors(String text, String hash) {
        assertThat(Fnv1a.hash(text.getBytes(StandardCharsets.UTF_8))).isEqualTo(Long.parseUnsignedLong(hash, 16));
    }

    /** A byte above 127 must not be taken for a negative number. */
    @Test
    void bytesAreUnsigned() {
        BigInteger prime = new BigInteger("100000001b3", 16);
        BigInteger expected = new BigInteger("cbf29ce484222325", 16);
        for (int each : new int[] {0xff, 0x80}) {
            expected = expected.xor(BigInteger.valueOf(each)).multiply(prime).mod(BigInteger.TWO.pow(64));
        }

        assertThat(Fnv1a.hash(new byte[] {(byte) 0xff, (byte) 0x80})).isEqualTo(expected.longValue());
    }

    @Test
    void aValueCountsAsItsLittleEndianBytes() {
        int bits = 0x81f2c3d4;
        byte[] bytes = ByteBuffer.allocate(4)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(bits)
                .array();

        assertThat(Fnv1a.addLittleEndian(Fnv1a.OFFSET_BASIS, bits)).isEqualTo(Fnv1a.hash(bytes));
    }
}
