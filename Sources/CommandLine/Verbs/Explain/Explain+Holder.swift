// SPDX-License-Identifier: Apache-2.0

import TerminalIO
package import YKTransport

extension Explain {
    /// How to make a program release a key.
    package static func release(_ holder: LinkError.Holder) -> String {
        switch holder.name {
        case "scdaemon", "gpg-agent": "gpgconf --kill scdaemon, then repeat the command"
        case "gsd-smartcard":
            "systemctl --user mask --now org.gnome.SettingsDaemon.Smartcard.service, then repeat the command"
        case "yubikey-agent": "systemctl --user stop yubikey-agent, then repeat the command"
        case "geoclue", "fwupd", "fprintd", "ModemManager":
            "sudo systemctl stop \(holder.name), then repeat the command"
        case "pcscd":
            "omit --link usb to use the key through pcscd, or sudo systemctl stop pcscd.socket pcscd"
        case "ssh", "ssh-sk-helper", "ssh-agent", "sudo", "login", "gdm-password":
            "\(holder.name) waits for a touch: touch the key or end it, then repeat the command"
        case let name where isBrowser(name):
            "close the page of \(name) that asks for the key, or \(name), then repeat the command"
        case let name where name.hasPrefix("qemu") || name.hasPrefix("VirtualBox") || name.hasPrefix("vmware"):
            "detach the key from the virtual machine (\(name)), then repeat the command"
        case let name: "end \(name) or let it release the key, then repeat the command"
        }
    }

    /// How to make GnuPG's scdaemon share a card. By default it bypasses pcscd, and with pcscd it takes the card
    /// exclusively; it asks for the PIN again if another application is selected.
    package static let releaseBySCDaemon = """
        gpgconf --kill scdaemon
        to have it share the card from then on:
        printf '%s\\n' disable-ccid pcsc-shared 'disable-application piv' >> ~/.gnupg/scdaemon.conf
        """

    private static func isBrowser(_ name: String) -> Bool {
        let browsers = [
            "firefox", "librewolf", "GeckoMain", "chrome", "chromium", "brave", "msedge", "microsoft-edge", "vivaldi",
            "opera", "epiphany",
        ]
        return browsers.contains { name.hasPrefix($0) }
    }
}
