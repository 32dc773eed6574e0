#include "decoded_image.hpp"

#include <gtest/gtest.h>

#include "image_files.hpp"

namespace diacut::testing {

Image expected_image(const cv::Mat& samples, double low, double high) {
  const int colours = samples.channels() - (samples.channels() % 2 == 0 ? 1 : 0);
  const bool has_alpha = colours < samples.channels();
  cv::Mat values;
  samples.convertTo(values, CV_64F);
  Image image;
  image.width = samples.cols;
  image.height = samples.rows;
  image.channels = colours;
  bool all_valid = true;
  for (int y = 0; y < samples.rows; ++y) {
    for (int x = 0; x < samples.cols; ++x) {
      const double* pixel = values.ptr<double>(y, x);
      const bool valid = !has_alpha || (pixel[colours] - low) / (high - low) >= 0.5;
      all_valid = all_valid && valid;
      image.valid.push_back(valid ? 1 : 0);
      for (int k = 0; k < colours; ++k) {
        image.pixels.push_back(valid ? static_cast<float>((pixel[k] - low) / (high - low)) : 0.0f);
      }
    }
  }
  if (all_valid) image.valid.clear();
  return image;
}

Image decoded_by_type(const std::vector<std::uint8_t>& file, const std::string& name,
                      ImageParameters parameters) {
  parameters.range = ValueRange::kType;
  return decode_image(file, name, parameters);
}

void expect_same(const Image& image, const Image& expected, double bound) {
  EXPECT_EQ(image.width, expected.width);
  EXPECT_EQ(image.height, expected.height);
  EXPECT_EQ(image.channels, expected.channels);
  EXPECT_EQ(image.valid, expected.valid);
  ASSERT_EQ(image.pixels.size(), expected.pixels.size());
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    if (bound > 0) {
      ASSERT_NEAR(image.pixels[i], expected.pixels[i], bound) << "value " << i;
    } else {
      ASSERT_FLOAT_EQ(image.pixels[i], expected.pixels[i]) << "value " << i;
    }
  }
}

cv::Mat samples_with_data(int width, int height, int type) {
  cv::Mat samples = random_samples(width, height, type);
  if (samples.channels() % 2 == 0) {
    cv::Mat first = samples(cv::Rect(0, 0, 1, 1));
    first.setTo(type == CV_16UC2 || type == CV_16UC4 ? cv::Scalar::all(65535)
                : type == CV_8UC2 || type == CV_8UC4 ? cv::Scalar::all(255)
                                                     : cv::Scalar::all(1));
  }
  return samples;
}

double largest(const cv::Mat& samples) {
  return samples.depth() == CV_8U ? 255 : samples.depth() == CV_16U ? 65535 : 1;
}

}  // namespace diacut::testing
