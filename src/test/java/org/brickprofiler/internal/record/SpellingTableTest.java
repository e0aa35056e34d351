package org.brickprofiler.internal.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

final class SpellingTableTest {

    private final SpellingTable table = new SpellingTable();

    @Test
    void ignoresCaseAndUnderscores() {
        table.add("lm_head", 3);

        assertThat(table.find("LmHead")).isEqualTo(3);
        assertThat(table.find("__LM__HEAD_")).isEqualTo(3);
        assertThat(table.find("lm_heads")).isEqualTo(NameTable.NONE);
    }

    @Test
    void refusesASecondKeyOfASpelling() {
        table.add("gate", 0);
        table.add("GATE", 0);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> table.add("Gate", 1))
                .withMessageContaining("'Gate' has the key 0 and cannot have 1");
        assertThat(table.find("gate")).isZero();
    }
}
