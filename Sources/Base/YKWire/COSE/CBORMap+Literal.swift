// SPDX-License-Identifier: Apache-2.0

extension CBOR.Map: ExpressibleByDictionaryLiteral {
    /// The pairs in order; a duplicate key keeps its last value.
    public init(dictionaryLiteral elements: (CBOR, CBOR)...) {
        self.init()
        for (key, value) in elements { self[key] = value }
    }
}
