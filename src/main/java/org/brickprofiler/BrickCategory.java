package org.brickprofiler;

/** What kind of work a brick does. */
public enum BrickCategory {
    /** Normalisation. */
    NORM("Norm"),
    /** Everything between the norm and the residual of an attention block. */
    ATTENTION("Attention"),
    /** The feed-forward block, experts included. */
    FFN("FFN"),
    /** What fits no other category; dynamic bricks unless they are given one. */
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
    /** Matrix products of which it is not known which projection they are. */
    MATRIX_PRODUCT("Matrix product");

    private final String displayName;

    BrickCategory(String displayName) {
        this.displayName = displayName;
    }

    /**
     * The name in reports.
     *
     * @return for example {@code "Attention"}
     */
    public String displayName() {
        return displayName;
    }

    /** The number of this category; the only reader of the ordinal. */
    @SuppressWarnings("EnumOrdinal") // this method is where it is wrapped
    int index() {
        return ordinal();
    }
}
