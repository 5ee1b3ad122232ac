// SPDX-License-Identifier: Apache-2.0

import YKHardware

/// Browsers that are snaps. snapd lets them use the security keys only that its rules for udev list by vendor and product
/// number, which the guard's are not.
package enum SnapBrowsers {
    /// The names of the snaps.
    package static let names = ["firefox", "chromium"]

    /// The browsers that are installed and do not find a device with the guard's own numbers.
    ///
    /// - Parameter root: The root of the file system.
    package static func blind(root: String = "") -> [String] {
        names.filter { name in
            guard SystemFile.names(in: "\(root)/snap/bin").contains(name) else { return false }
            let rules = SystemFile.text("\(root)/etc/udev/rules.d/70-snap.\(name).rules", limit: 1 << 20) ?? ""
            return !rules.split(separator: "\n").contains { lists(BridgeDevice.vendor, BridgeDevice.product, $0) }
        }
    }

    /// Whether a rule is for a vendor and product number: `ATTRS{idVendor}=="1050", ATTRS{idProduct}=="0113|0114"`.
    private static func lists(_ vendor: UInt16, _ product: UInt16, _ rule: Substring) -> Bool {
        zip(["idVendor", "idProduct"], [vendor, product]).allSatisfy { attribute, number in
            guard let start = rule.firstRange(of: "ATTRS{\(attribute)}==\"") else { return false }
            let values = rule[start.upperBound...].prefix { $0 != "\"" }.split(separator: "|")
            return values.contains { $0 == "*" || UInt16($0, radix: 16) == number }
        }
    }
}
