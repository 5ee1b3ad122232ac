// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// What an application of the card stores while the key is powered off.
package protocol AppletMemory: Hashable, Sendable {
    /// Its name in the state file.
    static var member: String { get }

    /// The memory of an application that was never used.
    init()
    /// The memory as stored in the state file; `nil` if the application was never used.
    var json: JSONValue? { get }
    /// Reads the memory from the state file.
    static func take(from fields: inout StateFields) throws(StateFields.Fault) -> Self
}

extension VirtualKeyState {
    /// The memory of an application.
    package subscript<Memory: AppletMemory>(_ type: Memory.Type) -> Memory {
        get { memories[ObjectIdentifier(type)]?.value as? Memory ?? Memory() }
        set { memories[ObjectIdentifier(type)] = newValue == Memory() ? nil : StoredMemory(newValue) }
    }
}

/// The memory of an application that was used.
struct StoredMemory: Hashable, Sendable {
    let value: any AppletMemory

    init(_ value: some AppletMemory) { self.value = value }

    static func == (one: StoredMemory, other: StoredMemory) -> Bool {
        AnyHashable(one.value) == AnyHashable(other.value)
    }

    func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
}
