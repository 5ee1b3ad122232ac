// SPDX-License-Identifier: Apache-2.0

import YKit

/// Prints keys that are plugged in and unplugged until it is interrupted; `--once` ends when all that are attached are
/// printed.
@main
struct Watch {
    static func main() async {
        let isOnce = CommandLine.arguments.contains("--once")
        let isVirtual = CommandLine.arguments.contains("--virtual")
        let keys = isVirtual ? KeyRing(source: .virtual(.demonstration())) : KeyRing()
        for await event in keys.watch() {
            switch event {
            case .arrived(let key): print("+ \(key.place)  \(key.name)")
            case .changed(let key): print("~ \(key.place)  \(key.name)")
            case .left(let key): print("- \(key.place)")
            case .interrupted(let why): print("the smart card service: \(why)")
            case .enumerated: if isOnce { return }
            }
        }
    }
}
