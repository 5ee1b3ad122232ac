// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKVirtualKey

extension KeyRing.Source {
    /// The virtual key in a file, which is created if it does not exist; without a file the demonstration key in memory.
    ///
    /// - Parameter faults: The faults of its links, as `FaultPlan` reads them.
    package static func virtual(file: String?, faults: String) throws -> KeyRing.Source {
        let key = if let file { try VirtualKey(file: file) } else { VirtualKey.demonstration() }
        return .virtual(key, faults: try FaultPlan(parsing: faults))
    }

    /// The serial number of the virtual key; `nil` for other sources.
    package var virtualSerial: String? {
        guard case .virtual(let key, _) = self else { return nil }
        return String(key.state.profile.serial)
    }

    /// The name of the virtual key's reader; `nil` for other sources.
    package var virtualReader: String? {
        guard case .virtual(let key, _) = self else { return nil }
        return key.link().identity.reader
    }
}
