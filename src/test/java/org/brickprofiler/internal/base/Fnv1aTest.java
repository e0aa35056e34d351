package org.brickprofiler.internal.base;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class Fnv1aTest {

    /** From the test suite that the authors of the hash publish, test_fnv.c. */
    @ParameterizedTest
    @CsvSource({
        "'', cbf29ce484222325",
        "a, af63dc4c8601ec8c",
        "b, af63df4c8601f1a5",
        "fo, 08985907b541d342",
        "foo, dcb27518fed9d577",
        "foob, dd120e790c2512af",
        "fooba, cac165afa2fef40a",
        "foobar, 85944171f73967e8"
    })
    void publishedVectors(String text, String hash) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);

        assertThat(Fnv1a.of(bytes)).isEqualTo(Long.parseUnsignedLong(hash, 16));
    }

    @Test
    void oneByteAtATimeIsTheSame() {
        byte[] bytes = {0, 1, -1, 127, -128};
        long hash = Fnv1a.OFFSET_BASIS;
        for (byte value : bytes) {
            hash = Fnv1a.add(hash, value);
        }

        assertThat(hash).isEqualTo(Fnv1a.of(bytes));
    }

    @Test
    void onlyTheLowestEightBitsCount() {
        assertThat(Fnv1a.add(Fnv1a.OFFSET_BASIS, -1)).isEqualTo(Fnv1a.add(Fnv1a.OFFSET_BASIS, 0xff));
        assertThat(Fnv1a.add(Fnv1a.OFFSET_BASIS, 0x161)).isEqualTo(0xaf63dc4c8601ec8cL);
    }

    @Test
    void aValueCountsAsItsLittleEndianBytes() {
        int bits = 0x81f2c3d4;
        byte[] bytes = ByteBuffer.allocate(Integer.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(bits)
                .array();

        assertThat(Fnv1a.addLittleEndian(Fnv1a.OFFSET_BASIS, bits)).isEqualTo(Fnv1a.of(bytes));
    }
}
