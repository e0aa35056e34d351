package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import org.brickprofiler.internal.record.NameTable;
import org.brickprofiler.internal.record.TimerToken;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

final class BrickNamesTest {

    @Test
    void everyDisplayNameAndAliasHasTheKeyOfItsBrick() {
        NameTable names = BrickNames.newTable();
        for (BrickId id : BrickId.values()) {
            assertThat(names.find(id.displayName())).isEqualTo(id.index());
            assertThat(id.aliases())
                    .allSatisfy(alias -> assertThat(names.find(alias)).isEqualTo(id.index()));
            assertThat(BrickNames.category(names.tag(id.index()))).isSameAs(id.category());
        }
    }

    @Test
    void theKeyAfterThemIsForNamesPastTheBound() {
        NameTable names = BrickNames.newTable();

        assertThat(names.find("(other names)")).isEqualTo(BrickNames.FIXED - 1);
        assertThat(BrickNames.category(names.tag(BrickNames.FIXED - 1))).isSameAs(BrickCategory.OTHER);
    }

    @Spec("1.5")
    @Test
    void thereIsRoomForFourThousandDynamicBricks() {
        assertThat(TimerToken.MAX_KEY + 1 - BrickNames.FIXED).isGreaterThanOrEqualTo(4_000);
    }

    @Test
    void everyCategoryHasATagOfItsOwn() {
        for (BrickCategory category : BrickCategory.values()) {
            assertThat(BrickNames.category(BrickNames.tag(category))).isSameAs(category);
        }
    }
}
