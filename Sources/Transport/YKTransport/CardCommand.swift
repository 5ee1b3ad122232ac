// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// One command of a smart-card application: how it is written and what its reply means.
public protocol CardCommand {
    /// What a successful reply means.
    associatedtype Response

    /// The name in the application's specification.
    static var name: String { get }
    /// The command as it is sent.
    var apdu: APDU { get }
    /// Reads the data of a reply that ended with 9000.
    func decode(_ reader: inout ByteReader) throws(WireError) -> Response
}

extension CardCommand where Response == Void {
    /// Expects no data; what some firmware sends all the same is ignored.
    public func decode(_ reader: inout ByteReader) {}
}
