package org.brickprofiler.internal.base;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class PluralTest {

    @Test
    void theNounFollowsTheCount() {
        assertThat(Plural.of(0, "token")).isEqualTo("0 tokens");
        assertThat(Plural.of(1, "output token")).isEqualTo("1 output token");
        assertThat(Plural.of(1_234_567, "token")).isEqualTo("1,234,567 tokens");
        assertThat(Plural.of(1, "entry", "entries")).isEqualTo("1 entry");
        assertThat(Plural.of(2, "entry", "entries")).isEqualTo("2 entries");
    }
}
