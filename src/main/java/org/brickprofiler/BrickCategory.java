package org.brickprofiler;

import java.util.ArrayList;
import java.util.List;

/** The kind of work of a brick. */
public enum BrickCategory {
    /** Normalisation. */
    NORM("Norm"),
    /** Everything between the norm and the residual of an attention block. */
    ATTENTION("Attention"),
    /** The feed-forward block, experts included. */
    FFN("FFN"),
    /** Bricks that fit no other category, and dynamic bricks without a category of their own. */
    OTHER("Other"),
    /** Sparse linear algebra. */
    SPARSE("Sparse"),
    /** Fourier transforms. */
    FFT("FFT"),
    /** Matrix factorisations. */
    SOLVER("Solver"),
    /** Changes of number format. */
    QUANTIZATION("Quantization"),
    /** Collectives between devices. */
    COMMUNICATION("Communication"),
    /** Copies between host and device. */
    TRANSFER("Transfer"),
    /** Matrix products whose projection is unknown. */
    MATRIX_PRODUCT("Matrix product"),
    /** Convolutions, with the changes of layout that they need. */
    CONVOLUTION("Convolution");

    private static final List<BrickCategory> ALL = List.of(values());
    private static final List<String> DISPLAY_NAMES = listNames();

    private final String displayName;

    BrickCategory(String displayName) {
        this.displayName = displayName;
    }

    /**
     * Returns the name in reports.
     *
     * @return for example {@code "Attention"}
     */
    public String displayName() {
        return displayName;
    }

    /** Returns the number of this category; this method alone reads the ordinal. */
    @SuppressWarnings("EnumOrdinal") // this method wraps the ordinal
    int index() {
        return ordinal();
    }

    /** Returns the category of an {@link #index()}. */
    static BrickCategory of(int index) {
        return ALL.get(index);
    }

    /** Returns the display names of all categories, by {@link #index()}. */
    static List<String> displayNames() {
        return DISPLAY_NAMES;
    }

    /**
     * Lists the display names, in a loop: the first lambda of a virtual machine takes longer to make than a profiler.
     */
    private static List<String> listNames() {
        List<String> names = new ArrayList<>();
        for (BrickCategory category : ALL) {
            names.add(category.displayName);
        }
        return List.copyOf(names);
    }
}
