// An object that is stored in another version has the defaults of that one.
#include <gtest/gtest.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/webhook_fixture.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Result;
using codec::JsonTree;

constexpr const char* kDefinitionsOfGadgets =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr const char* kGadgetsV1 = "/apis/gd.io/v1/namespaces/default/gadgets";
constexpr const char* kGadgetsV2 = "/apis/gd.io/v2/namespaces/default/gadgets";

class StoredDefaultsTest : public testing::WebhookFixture {
 protected:
  static std::string Version(const std::string& name, bool stored, const std::string& mode,
                             bool served = true) {
    return R"({"name":")" + name + R"(","served":)" + (served ? "true" : "false") +
           R"(,"storage":)" + (stored ? "true" : "false") +
           R"(,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object",)"
           R"("properties":{"size":{"type":"integer"})" +
           (mode.empty() ? "" : R"(,"mode":{"type":"string","default":")" + mode + "\"}") +
           "}}}}}}";
  }
  static std::string Definition(const std::string& versions, const std::string& conversion = {}) {
    return R"({"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1",)"
           R"("metadata":{"name":"gadgets.gd.io"},"spec":{"group":"gd.io","scope":"Namespaced",)"
           R"("names":{"plural":"gadgets","kind":"Gadget"},)" +
           (conversion.empty() ? "" : R"("conversion":)" + conversion + ",") + R"("versions":[)" +
           versions + "]}}";
  }
  void Define(const std::string& definition) {
    if (Do("POST", kDefinitionsOfGadgets, definition).status == 201) {
      return;
    }
    const std::string path = std::string(kDefinitionsOfGadgets) + "/gadgets.gd.io";
    JsonTree changed = *JsonTree::Parse(definition);
    changed["metadata"]["resourceVersion"] =
        At(Json(Do("GET", path)), {"metadata", "resourceVersion"});
    const auto put = Do("PUT", path, changed.ToJson());
    ASSERT_EQ(put.status, 200) << put.body;
  }
  JsonTree MakeGadget(const std::string& version, const std::string& name = "g") {
    const auto made = Do("POST", "/apis/gd.io/" + version + "/namespaces/default/gadgets",
                         R"({"kind":"Gadget","apiVersion":"gd.io/)" + version +
                             R"(","metadata":{"name":")" + name + R"("},"spec":{"size":1}})");
    EXPECT_EQ(made.status, 201) << made.body;
    return Json(made);
  }
  std::string Mode(const char* gadgets) {
    return At(Json(Do("GET", std::string(gadgets) + "/g")), {"spec", "mode"});
  }
};

TEST_F(StoredDefaultsTest, NotThoseOfTheVersionThatIsAskedFor) {
  Define(Definition(Version("v1", true, "")));
  MakeGadget("v1");
  Define(Definition(Version("v1", true, "of-v1") + "," + Version("v2", false, "of-v2")));
  EXPECT_EQ(Mode(kGadgetsV1), "of-v1");
  EXPECT_EQ(Mode(kGadgetsV2), "of-v1");
  const JsonTree list = Json(Do("GET", std::string(kGadgetsV2) + "?resourceVersion=0"));
  EXPECT_EQ(At(list.Find("items")->elements().front(), {"spec", "mode"}), "of-v1");
  // An update that does not speak of the field leaves its meaning.
  const auto patched = Do("PATCH", std::string(kGadgetsV2) + "/g", R"({"spec":{"size":2}})",
                          "application/merge-patch+json");
  EXPECT_EQ(At(Json(patched), {"spec", "mode"}), "of-v1");
  EXPECT_EQ(At(MakeGadget("v2", "new"), {"spec", "mode"}), "of-v2")
      << "what is written is of its own version";
}

TEST_F(StoredDefaultsTest, AlsoOfAVersionThatIsServedNoMore) {
  Define(Definition(Version("v1", true, "of-v1")));
  MakeGadget("v1");
  Define(Definition(Version("v1", false, "new-of-v1", false) + "," + Version("v2", true, "of-v2")));
  const JsonTree list = Json(Do("GET", std::string(kGadgetsV2) + "?resourceVersion=0"));
  EXPECT_EQ(At(list.Find("items")->elements().front(), {"spec", "mode"}), "of-v1") << "as stored";
  EXPECT_EQ(Mode(kGadgetsV2), "of-v1");
}

TEST_F(StoredDefaultsTest, TheCacheOfAnotherVersionHasTheNewOnes) {
  Define(Definition(Version("v1", true, "") + "," + Version("v2", false, "of-v2")));
  MakeGadget("v1");
  const std::string cached = std::string(kGadgetsV2) + "?resourceVersion=0";
  EXPECT_EQ(At(Json(Do("GET", cached)).Find("items")->elements().front(), {"spec", "mode"}), "");
  Define(Definition(Version("v1", true, "of-v1") + "," + Version("v2", false, "of-v2")));
  EXPECT_EQ(At(Json(Do("GET", cached)).Find("items")->elements().front(), {"spec", "mode"}),
            "of-v1");
}

TEST_F(StoredDefaultsTest, AWebhookIsGivenThemAndItsAnswerGetsNoOthers) {
  const std::string webhook =
      R"({"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],)"
      R"("clientConfig":{"url":"https://convert/"}}})";
  std::string seen;
  hooks_->Handle("https://convert/", [&seen](const JsonTree& request) -> Result<JsonTree> {
    return testing::FakeWebhooks::Converted(request, [&seen](JsonTree& object) {
      seen = StringAt(object, {"spec", "mode"});
      object["spec"].Erase("mode");
    });
  });
  Define(Definition(Version("v1", true, "of-v1") + "," + Version("v2", false, "of-v2"), webhook));
  MakeGadget("v1");
  EXPECT_EQ(Mode(kGadgetsV2), "");
  EXPECT_EQ(seen, "of-v1");
}

}  // namespace
}  // namespace kubexx::apiserver
