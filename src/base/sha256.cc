// A file through OpenSSL's digest. May use: std, OpenSSL.
#include "base/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <memory>
#include <vector>

#include "ahead/error.h"
#include "base/printable.h"

namespace ahead {

std::string sha256_of(const InputFile& file) {
  const auto fail = [&](const char* what) {
    throw Error(ErrorKind::kIo,
                "the checksum of " + path_in_quotes(file.path()) + " cannot be computed: " + what);
  };
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(),
                                                                   &EVP_MD_CTX_free);
  if (!context || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1) {
    fail("OpenSSL has no SHA-256; use an OpenSSL that has");
  }
  std::vector<char> chunk(std::size_t{1} << 20);
  std::uint64_t at = 0;
  while (const std::size_t got = file.read({.at = at, .bytes = chunk.size()}, chunk.data())) {
    EVP_DigestUpdate(context.get(), chunk.data(), got);
    at += got;
  }
  if (!file.unchanged()) {
    fail("the file was changed since it was read; run again, and leave it alone meanwhile");
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int bytes = 0;
  EVP_DigestFinal_ex(context.get(), digest.data(), &bytes);
  std::string text;
  for (unsigned int i = 0; i < bytes; ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    text += kDigits[digest[i] >> 4];
    text += kDigits[digest[i] & 15];
  }
  return text;
}

}  // namespace ahead
