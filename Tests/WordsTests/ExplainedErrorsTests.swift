// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Testing
import Words
import YKApproval
import YKArculus
import YKCTKIP
import YKFIDO
import YKHTTP
import YKHardware
import YKInteraction
import YKKeys
import YKManagement
import YKOATH
import YKOTP
import YKOpenPGP
import YKPIV
import YKProtocols
import YKRelyingParty
import YKSecondFactor
import YKSecrets
import YKSecurID
import YKSecurityDomain
import YKTestSupport
import YKToken
import YKTransport
import YKVirtualKey
import YKVirtualKeyHost
import YKWire

/// The exit status of each library's errors, and a part of what is said. Names and texts of keys and servers are in all of them
/// with a control character, which must not reach the terminal.
struct ExplainedErrorsTests {
    typealias Exit = TerminalIO.ExitStatus
    typealias Row = (error: any Explained, exit: Exit, part: String)

    private static func rows<Failure: Explained>(_ errors: [(Failure, Exit, String)]) -> [Row] {
        errors.map { ($0.0, $0.1, $0.2) }
    }

    private static let name = "acme\u{1B}[2J"
    private static let wire = WireError(.malformed, at: 3, "too short")

    private static let approval: [Row] = {
        let server = ServerError.status(503)
        let errors: [(ApprovalError, Exit, String)] = [
            (.server(server), .failed, "repeat the command later"),
            (.noReceipt(server, signedText: "", signature: ""), .failed, "may have received the answer anyway"),
            (.malformed(name), .malformed, "acme"), (.unsupportedVersion(name), .notSupported, "only version 1"),
            (.unsupportedKey(name), .notSupported, "rsa2048"),
            (.enrolmentRefused(name), .authentication, "ask for a new one"),
            (.request(.malformed(name)), .malformed, "cannot be read"),
            (.request(.signature), .malformed, "nothing was signed"),
            (.request(.otherSerial(name)), .malformed, "not for this one"),
            (.request(.otherServer(name)), .malformed, "not from the enrolled server"),
            (.numberNeeded(["1", "2"]), .usage, "--number N"),
            (.numberNotOffered(name, offered: []), .usage, "does not require a number"),
            (.numberNotOffered(name, offered: ["7"]), .usage, "nothing was signed"),
            (.pollRefused, .authentication, "enroll again"), (.clock(behind: .seconds(90)), .malformed, "90 s behind"),
            (.clock(behind: .seconds(-90)), .malformed, "90 s ahead of"),
            (.noFreeSlot, .failed, "--slot"), (.otherKey(.authentication), .authentication, "9a"),
            (.policyNotApplied(.authentication, "touch never"), .failed, "touch never"),
            (.possession, .failed, "nothing was sent"), (.cannotVerifyUser, .notSupported, "ykit fido2 pin set"),
            (.unproven(name), .authentication, "nothing was signed"),
            (.fido(.noCredentials), .authentication, "enroll again"), (.fido(.pinBlocked), .blocked, "blocked"),
            (.key(.blocked(.pin)), .blocked, "blocked"),
            (.link(OtpauthError(.secret, .twoStep)), .malformed, "ask for a new one"),
            (.noAccounts, .notFound, "ykit approve enroll"), (.noSuchAccount(name), .notFound, "no account matches"),
            (.noSuchAccount(nil), .notFound, "no matching account"), (.accountExists(name), .policy, "already"),
            (.tooManyAccounts(limit: 64), .policy, "64"), (.noRequest(nil), .notFound, "no request is open"),
            (.noRequest("7"), .notFound, "no such request"), (.alreadyAnswered, .notFound, "already been answered"),
            (.otherAccount(name), .policy, "not for this account"),
            (.otherServer(name, enrolled: name), .policy, "nothing was sent there"),
            (.passphraseNeeded(name), .authentication, "--answer-stdin"),
            (.wrongKey(name), .authentication, "not the key of"), (.random, .failed, "random"),
        ]
        return rows(errors)
    }()

    private static let servers: [Row] = {
        let errors: [(ServerError, Exit, String)] = [
            (.http(.redirected(to: name, status: 301)), .server, "not followed"),
            (.http(.failed(7, name)), .server, "libcurl 7"), (.http(.certificate(name)), .server, "--ca FILE"),
            (.status(404), .server, "web page"), (.status(500), .failed, "HTTP status 500"),
            (.malformed(name), .malformed, "cannot be used"), (.signature, .malformed, "audit key"),
            (.refused(status: 400, code: 904, message: name), .notFound, "no such user"),
            (.refused(status: 401, code: 1, message: name), .authentication, "did not accept the login"),
            (.refused(status: 403, code: 1, message: ""), .policy, "forbids this"),
            (.refused(status: 404, code: 1, message: name), .notFound, "does not have that"),
            (.refused(status: 409, code: 1, message: name), .failed, "at the same time"),
            (.refused(status: 500, code: 1, message: name), .failed, "HTTP status 500"),
            (.refused(status: 400, code: 3000, message: name), .policy, "already registered"),
            (.refused(status: 400, code: 3001, message: name), .notFound, "register the key again"),
            (.refused(status: 400, code: 3002, message: name), .authentication, "moved to another key"),
            (.refused(status: 400, code: 5, message: name), .failed, "refused (5)"),
        ]
        let http: [(HTTPError, Exit, String)] = [
            (.notInstalled, .failed, "libcurl4"), (.malformed(name), .usage, "acme"),
            (.unreachable(name), .server, "cannot be reached"), (.timedOut, .timeOut, "in time"),
            (.cancelled, .interrupted, "interrupted"), (.certificate(name), .server, "nothing was sent"),
            (.pin(seen: nil), .server, "nothing was sent"), (.authorities(name), .usage, "cannot be read"),
            (.redirected(to: "", status: 302), .policy, "302"), (.tooLarge(limit: 5), .malformed, "longer than 5"),
        ]
        let tokens: [(CTKIPError, Exit, String)] = [
            (.mac, .authentication, "discarded"), (.activationRefused, .authentication, "ask its issuer"),
            (.fault(kind: name, name), .failed, "reported a fault"), (.fault(kind: "", name), .failed, "a fault"),
            (.reply(name), .malformed, "not CT-KIP"), (.status(404), .failed, "404"),
            (.http(.certificate(name)), .server, "--ca FILE"), (.http(.timedOut), .timeOut, "in time"),
            (.xml(wire), .malformed, "too short"), (.random, .failed, "random"),
        ]
        return rows(errors) + rows(http) + rows(tokens)
    }()

    private static let factors: [Row] = {
        let errors: [(SecondFactorError, Exit, String)] = [
            (.server(.status(502)), .failed, "later"), (.uncertain(.status(502), .factors), .failed, "2fa status USER"),
            (.uncertain(.status(502), .user), .failed, "without a factor"),
            (.uncertain(.status(502), .challenge), .failed, "2fa send-pin"),
            (.uncertain(.status(502), .trust), .failed, "2fa trust status"),
            (.uncertain(.status(502), .apiKey), .failed, "never shown"), (.invalid("user"), .usage, "cannot be sent"),
            (.noSuchUser(name), .notFound, "no user"), (.userExists(name), .policy, "already"),
            (.otherAccount(name, user: name), .policy, "--account NAME"),
            (.notEnrolled([name, "b"]), .policy, "nothing was enabled"), (.noFactor(name), .notFound, "2fa status"),
            (.noSuchDevice(name), .notFound, "2fa device status"), (.noSuchClient(name), .notFound, "api-key list"),
            (.ambiguous(["a", "b"]), .severalDevices, "choose one"), (.rejected(name), .authentication, "refused"),
            (.rejected(nil, by: .refused(status: 400, code: 905, message: "")), .authentication, "refused"),
            (.locked(name), .blocked, "fail counter"), (.expired, .timeOut, "another one"),
            (.nothingPending, .notFound, "send-pin"), (.unverifiedEnrolment, .policy, "verify_enrollment"),
            (.noVerifiedChannel, .policy, "--no-condition"), (.otherUser(name), .authentication, "belongs to"),
            (.trustNotAllowed, .policy, "2fa trust allow"), (.notTrusted(isRevoked: true), .authentication, "copied"),
            (.notTrusted(isRevoked: false), .authentication, "does not trust"),
            (.key(.noneChosen), .policy, "no account was chosen"),
        ]
        let vault: [(VaultError, Exit, String)] = [
            (.noSession, .notFound, "2fa login --keep"), (.severalSessions(["a", "b"]), .severalDevices, "--server"),
            (.expired, .authentication, "expired"), (.malformed, .malformed, "cannot be read"),
        ]
        return rows(errors) + rows(vault)
    }()

    private static let selection: [Row] = {
        let candidates = [
            KeyCandidate(.reader, at: name, name: nil, serial: nil),
            KeyCandidate(.reader, at: name, name: name, serial: "7"),
            KeyCandidate(.usbReader, at: "1-2", name: name, serial: "7"),
            KeyCandidate(.fido, at: "/dev/hidraw1", name: name, serial: "7"),
            KeyCandidate(.keyboard, at: "/dev/hidraw0", name: name, serial: "7"),
            KeyCandidate(.any, at: "/dev/hidraw1", name: name, serial: nil),
            KeyCandidate(.any, at: "1-2", name: nil, serial: nil), KeyCandidate(.any, at: name, name: nil, serial: nil),
        ]
        let errors: [(KeyError, Exit, String)] = [
            (.none(.reader, .noReaders), .noDevice, "--virtual"), (.none(.any, .complete), .noDevice, "--virtual"),
            (.none(.keyboard, .complete), .noDevice, "ykit list"), (.none(.fido, .complete), .noDevice, "FIDO key"),
            (.none(.fido, .noReaders), .noDevice, "no card reader"),
            (.none(.fido, .emptyReaders(2)), .noDevice, "any of 2 readers"),
            (.none(.fido, .serviceFailed(.serviceNotRunning)), .noDevice, "no HID device is a FIDO key, and"),
            (.none(.usbReader, .serviceFailed(.serviceNotRunning)), .noDevice, "otherwise insert a key"),
            (.none(.usbReader, .complete), .noDevice, "by USB"),
            (.notFound(serial: name, .usbReader, candidates), .noDevice, "attached by USB"),
            (.notFound(serial: name, .any, []), .noDevice, "ykit list"),
            (.several(.reader, candidates), .severalDevices, "--reader NAME"),
            (.several(.usbReader, candidates), .severalDevices, "--path PORT"),
            (.several(.fido, candidates), .severalDevices, "by a touch"),
            (.several(.any, candidates), .severalDevices, "--path PATH"), (.noCard(path: name), .usage, "omit --path"),
            (.cardRequired, .usage, "omit it"), (.touchRequiresHID, .notSupported, "only among keys over HID"),
            (.differentKey, .policy, "nothing was done to it"), (.recordedLink("hid"), .replayMismatch, "a hid link"),
            (.recordedLink("http"), .replayMismatch, "requests to a server"), (.link(.removed), .removed, "insert"),
        ]
        let failures: [(KeyFailure, Exit, String)] = [
            (.key(.cardRequired), .usage, "card"), (.link(.removed), .removed, "insert"),
            (.management(.locked), .authentication, "lock code"),
        ]
        return rows(errors) + rows(failures)
    }()

    private static let management: [Row] = {
        let old = FirmwareVersion(4, 3, 5)
        let errors: [(ManagementError, Exit, String)] = [
            (.card(.appletMissing(.management)), .notSupported, "not a YubiKey"),
            (.card(.endlessReply(during: "x")), .malformed, "more data"), (.nfcRestricted, .policy, "three seconds"),
            (.otp(.notTouched, during: "x"), .timeOut, "not touched"),
            (.otp(.malformed(wire), during: "read"), .malformed, "reply to read"),
            (.otp(.device(.removed), during: "x"), .removed, "insert"),
            (.malformed(wire, during: "read"), .malformed, "reply to read"), (.endlessInfo, .malformed, "announces"),
            (.notOverThisLink("reset"), .notSupported, "--link pcsc"), (.locked, .authentication, "--lock-code-stdin"),
            (.notLocked, .usage, "omit it"), (.wrongLockCode, .authentication, "nothing was changed"),
            (.badLockCode, .usage, "32 hexadecimal digits"),
            (.tooOld(has: old, needs: FirmwareVersion(5, 0, 0)), .notSupported, "config mode"),
            (.tooOld(has: old, needs: FirmwareVersion(5, 6, 0)), .notSupported, "requires firmware 5.6.0"),
            (.notThere(.oath, over: .nfc), .notSupported, "over NFC"), (.lastApplication, .policy, "at least one"),
            (.noNFC, .notSupported, "no NFC"), (.resetBlocked(.oath), .policy, "OATH"),
            (.notWritten(["OATH"]), .failed, "re-insert"), (.touchEjectNeedsCCID, .usage, "CCID"),
            (.noWholeReset, .notSupported, "one by one"),
        ]
        return rows(errors)
    }()

    private static let cards: [Row] = {
        let openPGP: [(OpenPGPError, Exit, String)] = [
            (.terminated, .failed, "openpgp reset"),
            (.wrongPIN(.user, triesLeft: 1), .authentication, "one try is left"),
            (.wrongPIN(.admin, triesLeft: nil), .authentication, "admin PIN"),
            (.blocked(.user), .blocked, "unblock-pin"),
            (.blocked(.reset), .blocked, "blocked or not set"), (.blocked(.admin), .blocked, "deletes all keys"),
            (.pinRequired(.user), .authentication, "repeat"),
            (.badPINLength(.user, least: 6, most: 127), .usage, "6 to 127"),
            (.refusedPIN(.user), .policy, "8 or more"), (.defaultPINs, .policy, "change-admin-pin"),
            (.noKey(.signature), .notFound, "openpgp keys generate"),
            (.noCertificate(.signature), .notFound, "certificate"),
            (.touchIsFixed(.signature), .policy, "openpgp reset"), (.unsupported("x"), .notSupported, "support x"),
            (.unfit(.signature, "x"), .notSupported, "support x"), (.badInput("x y"), .usage, "x y"),
            (.notStored("it"), .failed, "did not store it"), (.notAttestable(.signature), .policy, "attested"),
            (.wrongSignature(.signature), .failed, "not made by"),
            (.wrongFingerprint(.signature), .notFound, "--created"),
            (.notDecrypted, .failed, "not encrypted to"),
            (.notBlocked(user: 2, admin: 3), .policy, "(user PIN 2, admin PIN 3)"),
            (.notBlocked(user: nil, admin: 3), .policy, "(admin PIN 3)"),
            (.notBlocked(user: nil, admin: nil), .policy, "do not use up its tries"),
        ]
        let key = SCPKeyReference(id: 0x13, version: 1), set = SCPKeyReference(id: 1, version: 0xFF)
        let channel: [(SecureChannelFault, Exit, String)] = [
            (.unsupported(.piv), .notSupported, "omit --scp"), (.noSuchKey(key), .notFound, "SCP11b version 0x01"),
            (.blocked(set), .blocked, "SCP03 version 0xff"), (.wrongKeys(set), .authentication, "65 failed attempts"),
            (.wrongReceipt(key), .authentication, "did not prove"),
            (.hostRefused(key, StatusWord(0x6982)), .authentication, "SCP11b"),
            (.certificateRefused(1, StatusWord(0x6A80)), .authentication, "certificate 2"),
            (.noCertificate(SCPKeyReference(id: 0x11, version: 0)), .notFound, "for SCP11a"),
            (.noCertificate(SCPKeyReference(id: 0x10, version: 0)), .notFound, "CA 0x10"),
            (.noCertificate(SCPKeyReference(id: 0x15, version: 0)), .notFound, "SCP11c"),
            (.noCertificate(SCPKeyReference(id: 0x99, version: 0)), .notFound, "0x99"),
            (.untrusted("expired"), .policy, "expired"), (.notAuthentic, .authentication, "may or may not"),
            (.ended, .failed, "nothing more was sent"), (.unprotected, .usage, "unprotected"),
            (.badHostKey("x"), .usage, "x"),
        ]
        let domain: [(SecurityDomainError, Exit, String)] = [
            (.hostNotAuthenticated, .authentication, "--scp 03"),
            (.noDataEncryptionKey, .authentication, "ENC:MAC:DEK"),
            (.channelOpen, .usage, "omit --scp"), (.noReset, .notSupported, "nothing was changed"),
            (.noSuchKey(key), .notFound, "no 11b,1"), (.full, .failed, "three SCP03 sets"),
            (.wouldDeleteLast, .policy, "sd reset"), (.refused(key), .failed, "--replace VERSION"),
            (.wrongCheckValue(set), .failed, "03,255"), (.badKey("x"), .usage, "x"),
            (.resetIncomplete(set, .ok), .failed, "factory keys"),
            (.resetIncomplete(set, StatusWord(0x6985)), .failed, "refused to block"),
        ]
        let secrets: [(SecretsError, Exit, String)] = [
            (.card(.appletMissing(.oath)), .notSupported, "Nitrokey 3"),
            (.otherApplication, .notSupported, "ykit oath"),
            (.wrongPIN(triesLeft: 7), .authentication, "7 tries are left"),
            (.wrongPIN(triesLeft: nil), .authentication, "wrong PIN"),
            (.pinBlocked, .blocked, "secrets reset"), (.noPIN, .policy, "pin set"), (.pinExists, .policy, "pin change"),
            (.pinRequired, .authentication, "--pin-stdin"), (.full, .failed, "secrets delete"),
            (.touchTimeout, .timeOut, "not touched"), (.wrongCode, .authentication, "do not trust"),
            (.unsupported(.update, has: FirmwareVersion(4, 0, 0)), .notSupported, "update"),
            (.badName(bytes: 0), .usage, "1 to 127"),
            (.fieldTooLong(bytes: 128), .usage, "128"), (.badPIN(bytes: 0), .usage, "1 to 127"),
            (.badSecret(bytes: 126), .usage, "126"), (.badCode, .usage, "6 to 8"), (.badAlgorithm, .usage, "sha256"),
        ]
        let otp: [(OTPError, Exit, String)] = [
            (.device(.removed), .removed, "insert"), (.malformed(wire), .malformed, "too short"),
            (.notStored(.one), .failed, "slot 1"), (.notTouched, .timeOut, "touched"),
            (.emptySlot(.two), .notFound, "slot 2"),
            (.notChallengeResponse(.two), .notSupported, "otp chalresp 2"),
            (
                .unsupported(.ndef, needs: FirmwareVersion(3, 0, 0), has: FirmwareVersion(2, 0, 0)), .notSupported,
                "needs 3.0.0"
            ),
            (
                .unsupported(.accessCodeUpdate, needs: FirmwareVersion(4, 0, 0), has: FirmwareVersion(5, 0, 0)),
                .notSupported, "empty the slot"
            ),
            (.invalid(.length("secret", expected: 1...20, is: 21)), .usage, "length of 21, expected 1 to 20"),
            (.invalid(.length("key", expected: 16...16, is: 3)), .usage, "expected 16"),
            (.invalid(.counter(3)), .usage, "multiple of 16"), (.invalid(.format(wire)), .usage, "too short"),
            (.invalid(.identifier), .usage, "modhex"),
        ]
        return rows(openPGP) + rows(channel)
            + rows(domain)
            + rows(secrets) + rows(otp)
    }()

    private static let accounts: [Row] = {
        let id = OATHAccountID(issuer: "acme", name: "a\u{1B}b")
        let oath: [(OATHError, Exit, String)] = [
            (.otherApplication, .notSupported, "ykit secrets"),
            (.locked, .authentication, "--password-stdin"), (.wrongPassword, .authentication, "no try is lost"),
            (.emptyPassword, .authentication, "empty"), (.notAuthentic(wire), .authentication, "impostor"),
            (.noSuchAccount, .notFound, "oath list"), (.exists(id), .policy, "--force"),
            (.writtenBefore(id), .policy, "before it"),
            (.nameCollides(id, with: id), .policy, "would overwrite"),
            (.touchNotApplied(id), .failed, "without a touch"), (.full, .failed, "oath delete"),
            (.notApproved, .policy, "FIPS"), (.passwordRequired, .policy, "oath reset"),
            (.nameTooLong(bytes: 65), .usage, "65 bytes"),
            (.emptyName, .usage, "no name"), (.emptySecret, .usage, "no secret"),
            (.unsupportedDigits(9), .usage, "9 digits"),
            (.touchTimeout, .timeOut, "touched"), (.damaged, .failed, "enroll it again"),
            (.invalidMigration(.notMigration), .malformed, "otpauth-migration"),
            (.invalidMigration(.malformed(wire)), .malformed, "scan it again"),
            (.invalidPSKC(.malformed(wire)), .malformed, "cannot be read"),
            (.invalidPSKC(.field("Key", "")), .malformed, "missing"),
            (.invalidPSKC(.field("Key", name)), .malformed, "Key is"),
            (.invalidPSKC(.field("CheckDigits", "")), .malformed, "check digit"),
            (.invalidPSKC(.unsupportedAlgorithm("x:yubikey-aes")), .malformed, "Yubico OTP slot"),
            (.invalidPSKC(.unsupportedAlgorithm("")), .malformed, "does not support"),
            (.invalidPSKC(.unsupportedAlgorithm(name)), .malformed, "does not support"),
            (.invalidPSKC(.cancelled), .interrupted, ""),
            (.invalidPSKC(.wrongKey), .authentication, "wrong passphrase"),
        ]
        let token: [(TokenError, Exit, String)] = [
            (.malformed(wire), .malformed, "not a Yubico OTP"), (.otherPublicID([0, 1]), .authentication, "cccb"),
            (.wrongKey, .authentication, "keyboard layout"), (.otherPrivateID, .authentication, "private identity"),
            (.store(.file(.inUse(path: "f"))), .busy, "repeat"),
            (.store(.file(.unreadable(path: "f", FileFailure(.read, "f", 5)))), .failed, "cannot read f"),
            (.store(.file(.tooLarge(path: "f", limit: 1 << 20))), .malformed, "delete it only on purpose"),
            (.store(.file(.unwritable(path: "f", FileFailure(.write, "f", 5)))), .failed, "no password is accepted"),
            (.store(.broken(path: "f", reason: "r")), .malformed, "damaged"),
        ]
        let validation: [(OTPValidationError, Exit, String)] = [
            (.refused(.badOTP, server: name), .authentication, "malformed"),
            (.refused(.replayedOTP, server: name), .authentication, "used before"),
            (.refused(.replayedRequest, server: name), .authentication, "answered before"),
            (.refused(.noSuchClient, server: name), .authentication, "--client"),
            (.refused(.backendError, server: name), .failed, "says"),
            (.unsignedRefusal(.badOTP, server: name), .authentication, "not signed"),
            (.badReplySignature(server: name), .authentication, "forged"),
            (.otherReply(server: name), .authentication, "different request"),
            (.malformed(wire, server: name), .malformed, "cannot be read"),
            (.http(status: 500, server: name), .failed, "500"),
            (.unreachable(server: name, reason: "r"), .failed, "cannot be reached"),
            (.unprotected(server: name), .policy, "https://"),
            (.noServer, .usage, "no server"),
        ]
        return rows(oath) + rows(token)
            + rows(validation)
    }()

    private static let others: [Row] = {
        let keyring: [(KeyringError, Exit, String)] = [
            (.noFolder(variable: "HOME"), .failed, "HOME"), (.exposed(path: "f"), .policy, "chmod 600 f"),
            (.malformed(path: "f"), .failed, "remember again"),
            (.malformedKey(path: "f", bytes: 3, keyring: "k"), .failed, "3 bytes"),
            (.tooLarge(path: "f", limit: 1 << 20), .usage, "1 MiB"), (.noSecretService, .failed, "libsecret-tools"),
            (.refused, .failed, "unlock it"), (.program(.failed(program: "p", reason: "r")), .failed, "cannot run p"),
            (.program(.timedOut(program: "p")), .timeOut, "in time"), (.program(.cancelled), .interrupted, ""),
            (.program(.tooMuchOutput(program: "p", limit: 1 << 20)), .failed, "p printed more than 1 MiB"),
        ]
        let metadata: [(MetadataError, Exit, String)] = [
            (.malformed(name), .malformed, "download it again"), (.algorithm(name), .policy, "not accepted"),
            (.signer([name]), .authentication, "do not trust it"), (.signature, .authentication, "do not trust it"),
            (.rollback(from: 7, to: 6), .policy, "number 6"), (.http(.timedOut), .timeOut, "in time"),
            (.status(404), .server, "404"), (.store(name), .failed, "cannot be stored"),
        ]
        let files: [(VirtualKeyFileError, Exit, String)] = [
            (.unreadable(path: "f", errno: 13, "Permission denied"), .permission, "choose a file"),
            (.notAFile(path: "f"), .malformed, "was not changed"),
            (.newer(path: "f", format: 9), .malformed, "that version"),
            (.broken(path: "f", line: 3, field: nil, reason: "r"), .malformed, "was not changed"),
            (.inUse(path: "f", holders: []), .busy, "stop it"),
        ]
        let usb: [(USBIPError, Exit, String)] = [
            (.missing(path: "f"), .noDevice, "modprobe vhci-hcd"), (.denied(path: "f"), .permission, "sudo"),
            (.noPort, .busy, "stop one"),
            (.failed(path: "f", errno: 5, "r"), .failed, "r"), (.gone, .failed, ""),
        ]
        let uhid: [(UHIDError, Exit, String)] = [
            (.missing(path: "f"), .noDevice, "modprobe uhid"), (.denied(path: "f"), .permission, "sudo"),
            (.failed(path: "f", errno: 5, "r"), .failed, "r"), (.gone, .failed, ""),
        ]
        let kinds: [(CredentialKind, Exit)] = [
            (.pivPIN, .blocked), (.pivPUK, .blocked), (.fidoPIN, .blocked), (.openPGPUserPIN, .blocked),
            (.openPGPAdminPIN, .blocked),
            (.openPGPResetCode, .blocked), (.oathPassword, .blocked), (.lockCode, .blocked), (.secretsPIN, .blocked),
        ]
        let credentials = kinds.flatMap { kind, exit -> [Row] in
            let id = CredentialID(kind, key: nil)
            return [
                (CredentialError.empty(id), .usage, "must not be empty"), (CredentialError.blocked(id), exit, ""),
                (CredentialError.lastTry(id), .authentication, "was not sent"),
                (CredentialError.refusedBefore(id), .authentication, "not sent again"),
                (CredentialError.declined(id), .declined, "was entered"),
                (CredentialError.nobodyToAsk(id), .declined, "no terminal"),
            ]
        }
        let arculus: [(ArculusError, Exit, String)] = [
            (.otherCard, .policy, "nothing was done with it"),
            (.notArculus([UInt8](0..<16)), .notSupported, "--strict"),
            (.changeInDoubt, .removed, "try the new PIN first"), (.reply(name), .malformed, "address"),
            (.configuration(name), .usage, "invalid"), (.unsuitablePIN(.tooShort(3)), .usage, "was not sent"),
            (.unsuitablePIN(.notDigits), .usage, "digits"),
            (.server(ArculusRefusal(code: .sessionExpired, message: name, httpStatus: 400)), .timeOut, "answer sooner"),
            (
                .server(ArculusRefusal(code: .invalidSignature, message: name, httpStatus: 400)), .authentication,
                "refused"
            ),
            (.server(ArculusRefusal(code: .unknownCredential, message: name, httpStatus: 400)), .notFound, "register"),
        ]
        return rows(keyring) + rows(metadata)
            + rows(files)
            + rows(usb) + rows(uhid) + credentials
            + rows(arculus)
    }()

    @Test("every error has its exit status and says what to do, in one line each, without control characters")
    func explains() {
        let rows =
            Self.approval + Self.servers + Self.factors + Self.selection + Self.management + Self.cards + Self.accounts
            + Self.others
        for row in rows {
            let explanation = row.error.explanation
            let lines = [explanation.message, explanation.hint].compactMap(\.self)
            let text = lines.joined(separator: "\n")
            expect(explanation.exit, is: row.exit, "\(row.error)")
            #expect(text.contains(row.part), "'\(row.part)' in \(text)")
            #expect(
                !explanation.code.isEmpty && explanation.code.allSatisfy { $0.isLowercase || $0 == "-" || $0.isNumber })
            for line in lines + explanation.candidates.map(\.line) {
                #expect(
                    !line.isEmpty && !line.hasSuffix(".") && !line.contains("\n") && !line.contains("\u{1B}"), "\(line)"
                )
                expect(line.filter { $0 == "(" }.count, is: line.filter { $0 == ")" }.count, "\(line)")
            }
            let word = explanation.message.prefix { $0.isLetter }
            #expect(word.first?.isUppercase != true || word == word.uppercased(), "\(text)")
        }
    }

    @Test("what one of several keys refused names the key, and is still a refusal") func keys() {
        let refused = Concerning(.key("7"), PIVError.wrong(.pin, triesLeft: 2))
        expect(refused.explanation.message, is: "wrong PIV PIN, 2 tries are left (key 7)")
        expect(RefusedCredential(causing: refused), is: RefusedCredential(.pivPIN, triesLeft: 2))
        let other = Concerning(.key("7"), PIVError.noKey(.signature))
        expect(other.explanation, is: PIVError.noKey(.signature).explanation)
        expect(RefusedCredential(causing: other), is: nil)
    }

    @Test("a change of PIV whose reply was lost, or that was made in part") func changes() {
        let cause = Explanation("timed-out", .timeOut, "no answer", hint: "cause")
        let changes: [PIVChange] = [
            .pin, .puk, .retries, .managementKey(protected: true), .managementKey(protected: false), .key(.signature),
            .certificate(.signature), .reset,
        ]
        for change in changes {
            let uncertain = change.uncertain(cause)
            #expect(
                uncertain.exit == .timeOut && uncertain.message.hasPrefix("no answer; ") && uncertain.hint != "cause")
            let unfinished = change.unfinished(cause)
            #expect(unfinished.exit == .timeOut && unfinished.message.hasSuffix(": no answer"))
        }
        expect(Set(changes.map { $0.uncertain(cause).message }).count, is: changes.count)
    }
}
