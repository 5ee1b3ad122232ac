// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// Whole milliseconds, as WebAuthn and CTAP state timeouts; 0 for a negative duration, clamped to 64 bits.
    package var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (product, isOver) = seconds.multipliedReportingOverflow(by: 1000)
        let (sum, isAbove) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        return isOver || isAbove ? .max : sum
    }
}
